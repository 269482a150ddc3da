package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/goal"
)

func newPrompt(s streams) *cobra.Command {
	o := &operateOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "prompt TEXT",
		Short: "Run one user turn and print its answer",
		Long: `Run one user turn and print its answer.

A prompt whose turn a goal adopts, because the model created one or somebody set one,
prints its answer at its turn's end and stays as the owner until the goal is done. Its
exit code is the prompt's. While another operation runs a prompt is refused: steer it.
TEXT may be - for standard input or @FILE.`,
		Args: asUsage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runPrompt(cmd.Context(), o, args) },
	}
	o.register(cmd.Flags())
	return cmd
}

func runPrompt(ctx context.Context, o *operateOptions, args []string) error {
	text, err := textOf(o.streams, args)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	at, err := newSite(o.streams, o.key)
	if err != nil {
		return err
	}
	cmd := control.Command{ID: o.commandID(), Name: control.Prompt, Text: text}
	return o.drive(ctx, at, cmd, view.State{Goal: goal.None, Prompt: true, Objective: text, Now: "starting Codex"})
}

// textOf makes one text of the arguments.
func textOf(s streams, args []string) (string, error) {
	if len(args) == 1 {
		return readText(s, args[0])
	}
	return checkText(strings.Join(args, " "), "the text")
}
