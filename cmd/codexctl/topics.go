package main

import "github.com/spf13/cobra"

// newTopics are the help topics: commands that cannot be run, only read about.
func newTopics() []*cobra.Command {
	topic := func(name, short, long string) *cobra.Command {
		return &cobra.Command{Use: name, Short: short, Long: long}
	}
	return []*cobra.Command{
		topic("exit-codes", "What the exit codes mean", topicExitCodes),
		topic("json", "What --json prints", topicJSON),
		topic("environment", "Which environment variables are read", topicEnvironment),
	}
}

const topicExitCodes = `Every command ends with one of these codes:

  0  complete or done; for a command that only changes a goal: Codex acknowledged it
  1  a turn failed, or any other error
  2  usage: the command line or its input makes no sense; nothing was done
  3  timeout: the goal was paused first, unless it completed
  4  stopped, paused, cleared or interrupted before it was done
  5  waiting for an answer (kept for questions)
  6  busy, owned by someone else, or the owner finished before the command was sent
  7  the goal is blocked by the model, or limited by usage or budget
  8  delivery unknown: it was written and no answer came; what a readback found is shown
  9  no Codex, or one of an unsupported version

A goal that is blocked because a turn failed ends with 1, one that the model calls
blocked with 7.`

const topicEnvironment = `These environment variables are read:

  CODEX_BIN          the Codex executable; no other is tried
  CODEX_HOME         Codex's own directory of configuration, login and threads (~/.codex)
  CODEXCTL_SESSION   the session, where --session does not say (default)
  CODEXCTL_STATE     where journals, locks and sockets are kept
                     ($XDG_STATE_HOME/codexctl, or ~/.local/state/codexctl)
  NO_COLOR           set to anything: no colours
  TERM               "dumb": no colours and no redrawing

Codex inherits the whole environment.`
