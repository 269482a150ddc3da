package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/goal"
)

func newRun(s streams) *cobra.Command {
	o := &goalOptions{operateOptions: operateOptions{streams: s}}
	cmd := &cobra.Command{
		Use:   "run '/COMMAND …'",
		Short: "Run a slash line, such as '/goal Fix the tests'",
		Long: `Run a slash line, such as '/goal Fix the tests'.

The line is one text: '/goal clear the backlog' sets an objective, only exactly
'/goal clear' clears. It may be - for standard input or @FILE.`,
		Args: asUsage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runLine(cmd.Context(), o, args[0]) },
	}
	cmd.Flags().Var(&o.budget, "budget", "the goal's total in tokens, such as 50000 or 50k; none removes it")
	o.register(cmd.Flags())
	return cmd
}

func runLine(ctx context.Context, o *goalOptions, line string) error {
	line, err := readText(o.streams, line)
	if err != nil {
		return err
	}
	parsed, err := goal.ParseLine(line)
	switch {
	case errors.Is(err, goal.ErrNotGoal):
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(word, "/") {
			return usageError("there is no command %s; there is /%s", word, goal.Name)
		}
		return usageError("a slash line begins with /; for a turn of your own: codexctl prompt")
	case err != nil:
		return &exitError{exitUsage, err}
	}
	return driveGoal(ctx, o, parsed)
}
