package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/worker"
	"github.com/codexctl/codexctl/goal"
)

type goalOptions struct {
	operateOptions
	budget budgetFlag
	force  bool
}

func newGoal(s streams) *cobra.Command {
	o := &goalOptions{operateOptions: operateOptions{streams: s}}
	cmd := &cobra.Command{
		Use:   goal.Name + " " + goal.Describe(nil, nil).ArgumentHelp,
		Short: "Run a goal, replace the one that runs, change it or show it",
		Long: `Run a goal, replace the one that runs, change it or show it.

With an OBJECTIVE this process runs the goal in the foreground until it is no longer
active; Ctrl-C stops it. If another process runs one for the same project, session and
directory, its objective is replaced while it runs, and this command returns when Codex
has acknowledged that (--wait follows it to the end).

Without arguments the goal is shown; --budget alone changes the budget of the goal.
TEXT may be - for standard input or @FILE. Text from there is never one of the words
pause, resume, clear and edit.`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeWords,
		RunE:              func(cmd *cobra.Command, args []string) error { return runGoal(cmd.Context(), o, args) },
	}
	cmd.Flags().Var(&o.budget, "budget", "the goal's total in tokens, such as 50000 or 50k; none removes it")
	cmd.Flags().BoolVar(&o.force, "force", false, "pause: even where another client of Codex has the thread; its turn goes on to its end")
	o.register(cmd.Flags())
	return cmd
}

func completeWords(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return goal.Words(), cobra.ShellCompDirectiveNoFileComp
}

// readGoal makes the command of the arguments, with references to other texts
// resolved. Text from elsewhere is never one of the reserved words.
func readGoal(s streams, args []string) (goal.Command, error) {
	if len(args) == 1 && isReference(args[0]) {
		text, err := readText(s, args[0])
		return goal.Command{Action: goal.Set, Text: strings.TrimSpace(text)}, err
	}
	cmd, err := goal.ParseArgs(args)
	if err != nil {
		return cmd, &exitError{exitUsage, err}
	}
	if cmd.Action == goal.Edit && isReference(cmd.Text) {
		text, err := readText(s, cmd.Text)
		return goal.Command{Action: goal.Edit, Text: strings.TrimSpace(text)}, err
	}
	return cmd, nil
}

func runGoal(ctx context.Context, o *goalOptions, args []string) error {
	parsed, err := readGoal(o.streams, args)
	if err != nil {
		return err
	}
	return driveGoal(ctx, o, parsed)
}

// wireNames are the commands of the control wire for each action.
var wireNames = map[goal.Action]control.Name{
	goal.Show: control.GoalShow, goal.Set: control.GoalSet, goal.Edit: control.GoalEdit,
	goal.Pause: control.GoalPause, goal.Resume: control.GoalResume, goal.Clear: control.GoalClear,
}

// driveGoal carries out a goal command, however it was written.
func driveGoal(ctx context.Context, o *goalOptions, parsed goal.Command) (err error) {
	if parsed.Text != "" {
		if parsed.Text, err = worker.TrimObjective(parsed.Text); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.force && parsed.Action != goal.Pause {
		return usageError("--force goes with pause only: what another client of Codex has can be paused, and nothing else")
	}
	where := knownSite
	if parsed.Action == goal.Set || parsed.Action == goal.Resume {
		where = newSite
	}
	at, err := where(o.streams, o.key)
	if err != nil {
		return err
	}
	cmd := control.Command{ID: o.commandID(), Name: wireNames[parsed.Action], Text: parsed.Text, Budget: o.budget.value, Force: o.force}
	budgeted := !o.budget.value.IsAbsent()
	switch parsed.Action {
	case goal.Set, goal.Resume:
		first := view.State{Goal: goal.None, Objective: parsed.Text, Now: "starting Codex"}
		if n, ok := o.budget.value.Get(); ok {
			first.Budget = &n
		}
		if parsed.Action == goal.Resume {
			if err := needStored(ctx, at, o.key); err != nil {
				return err
			}
		}
		return o.drive(ctx, at, cmd, first)
	case goal.Show:
		if budgeted {
			cmd.Name = control.GoalEdit
		}
	case goal.Pause, goal.Clear:
		if budgeted {
			return usageError("--budget does not go with %s", parsed.Action)
		}
	}
	return o.touch(ctx, at, cmd)
}

// touch carries out a command that begins no work: on the owner, or with no
// owner for a moment in this process.
func (o *goalOptions) touch(ctx context.Context, at site, cmd control.Command) (err error) {
	link, err := o.visit(ctx, at, o.key)
	if errors.Is(err, errNothingStored) && cmd.Name == control.GoalShow {
		return o.print(nil, errNothingStored)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, link.close()) }()
	value, err := link.ask(ctx, cmd)
	var refused *control.Refusal
	if errors.As(err, &refused) && refused.Code == control.ThreadHeld && cmd.Name == control.GoalPause {
		return &exitError{exitBusy, fmt.Errorf("%w; or pause it all the same: codexctl goal pause --force", err)}
	}
	if err != nil {
		return o.explain(ctx, at, link, err)
	}
	return o.print(value, nil)
}

// print shows the goal as it is now.
func (o *goalOptions) print(value *control.Value, missing error) error {
	var g *control.Goal
	if value != nil {
		g = value.Goal
		if value.Note != "" {
			fmt.Fprintln(o.streams.err, value.Note)
		}
	}
	if o.json {
		return writeJSON(o.streams.out, goalReport{Goal: g})
	}
	_, err := fmt.Fprintln(o.streams.out, goalLine(o.streams, g))
	return err
}

// goalReport is the JSON of a goal command that begins no work.
type goalReport struct {
	Goal *control.Goal `json:"goal"` // null is no goal
}
