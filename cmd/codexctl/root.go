package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// newRoot is the command tree on the given streams.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "codexctl",
		Short:         "Drive the goals of OpenAI Codex, while they run",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("there is no command %q; see codexctl help", args[0])
			}
			return cmd.Help()
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError("%w; see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		newGoal(s),
		newPrompt(s),
		newSteer(s),
		newStop(s),
		newStatus(s),
		newWatch(s),
		newRun(s),
		newThreads(s),
		newDoctor(s),
		newBackgroundOwner(s),
		newVersion(s),
		newDemo(s),
	)
	root.AddCommand(newTopics()...)
	return root
}

// noArgs refuses arguments with the usage exit code.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
}

// asUsage gives cobra's own errors about arguments the usage exit code.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var exit *exitError
		if err == nil || errors.As(err, &exit) {
			return err
		}
		return &exitError{exitUsage, fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	}
}
