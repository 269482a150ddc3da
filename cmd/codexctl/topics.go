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
  3  timeout: nothing runs any more, and the goal was seen to be paused
  4  stopped, paused, cleared or interrupted before it was done; nothing runs any more
  5  waiting for an answer (kept for questions)
  6  busy, owned by someone else, or the owner finished before the command was sent;
     also where another client of Codex has the thread: nothing was changed then
  7  the goal is blocked by the model, or limited by usage or budget
  8  delivery unknown: a command or a stop was written and no answer came, or this
     command was ended and the work goes on; what a readback found is shown
  9  no Codex, or one of an unsupported version

A goal that is blocked because a turn failed ends with 1, one that the model calls
blocked with 7.

Ctrl-C, TERM and HUP stop the goal and wait for that. Only a second Ctrl-C, at least
0.3 s after the first, ends at once: the goal is then read back and paused with a new
Codex, which takes a moment; one more Ctrl-C does not wait for that either. A stop that
Codex does not answer is read back in the same way. 3 and 4 are said only of a goal that
was seen to be paused, complete or gone; else it is 8, and codexctl goal pause is next.`

const topicEnvironment = `These environment variables are read:

  CODEX_BIN          the Codex executable; no other is tried
  CODEX_HOME         Codex's own directory of configuration, login and threads (~/.codex);
                     codexctl locks the threads it owns in codexctl/threads there
  CODEXCTL_SESSION   the session, where --session does not say (default)
  CODEXCTL_STATE     where journals and sockets are kept
                     ($XDG_STATE_HOME/codexctl, or ~/.local/state/codexctl)
  CODEXCTL_OWNER_IDLE
                     how long an owner in the background stays without work (5s)
  NO_COLOR           set to anything: no colours
  TERM               "dumb": no colours and no redrawing

Codex inherits the environment, but for what an outer Codex marks its commands with:
CODEX_THREAD_ID, CODEX_NETWORK_PROXY_ACTIVE, CODEX_SANDBOX*, CODEX_INTERNAL_*,
CODEX_MANAGED_*.

What is kept under CODEXCTL_STATE holds prompts and objectives as they were written, for
your eyes only (mode 0600). A --trace hides what looks like a secret or is called one, but
knows no secret that comes in pieces: read it before you give it away.`
