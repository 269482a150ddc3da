package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/worker"
	"github.com/codexctl/codexctl/goal"
)

type goalOptions struct {
	streams streams
	key     keyOptions
	codex   codexOptions
	budget  budgetFlag
	timeout timeoutFlag
	json    bool
	wait    bool
}

func newGoal(s streams) *cobra.Command {
	o := &goalOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "goal [OBJECTIVE | pause | resume | clear | edit TEXT]",
		Short: "Run a goal, replace the one that runs, or change it",
		Args:  cobra.ArbitraryArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return runGoal(cmd.Context(), o, args) },
	}
	flags := cmd.Flags()
	flags.Var(&o.budget, "budget", "the goal's total in tokens, such as 50000 or 50k; none removes it")
	flags.Var(&o.timeout, "timeout", "pause the goal and stop after this time, such as 30m")
	flags.BoolVar(&o.json, "json", false, "print one event a line")
	flags.BoolVar(&o.wait, "wait", false, "follow a goal that another process owns to its end")
	o.key.register(flags)
	o.codex.register(flags)
	return cmd
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
	if parsed.Text != "" {
		if parsed.Text, err = worker.TrimObjective(parsed.Text); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	if err := o.codex.check(); err != nil {
		return err
	}
	at, err := newSite(o.streams, o.key)
	if err != nil {
		return err
	}
	return driveGoal(ctx, o, at, parsed)
}

func driveGoal(ctx context.Context, o *goalOptions, at site, parsed goal.Command) (err error) {
	first := view.State{Goal: goal.None, Objective: parsed.Text, Now: "starting Codex"}
	if n, ok := o.budget.value.Get(); ok {
		first.Budget = &n
	}
	show := newShow(o.streams, o.json, o.streams.err, o.streams.tty.err, first)
	defer func() { err = errors.Join(err, show.end()) }()
	_ = show.tick()
	link, err := join(ctx, at, func(ctx context.Context) (*owner, error) {
		return becomeOwner(ctx, at, o.key.thread, o.codex, true, &desk{})
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, link.close()) }()

	f := &follower{link: link, show: show, timeout: time.Duration(o.timeout)}
	value, err := f.begin(ctx, control.Command{ID: commandID(), Name: control.GoalSet, Text: parsed.Text, Budget: o.budget.value})
	if err != nil {
		return err
	}
	if value.Note != "" {
		_ = show.note(value.Note)
	}
	if link.own == nil && !o.wait {
		return errors.Join(show.end(), o.report(value.Goal))
	}
	if value.Operation == "" {
		return silently(exitLimited)
	}
	if err := f.wait(ctx, nil); err != nil {
		return err
	}
	if err := show.end(); err != nil {
		return err
	}
	return o.result(f)
}

// report prints a goal as Codex acknowledged it.
func (o *goalOptions) report(g *control.Goal) error {
	if o.json {
		return nil // the result was printed as an event
	}
	_, err := fmt.Fprintln(o.streams.out, goalLine(o.streams, g))
	return err
}

// result prints how the goal ended.
func (o *goalOptions) result(f *follower) error {
	if !o.json {
		line := goalLine(o.streams, f.ended.Goal)
		if f.ended.Goal == nil {
			line = f.ended.End
		}
		if _, err := fmt.Fprintln(o.streams.out, line); err != nil {
			return err
		}
	}
	code := f.code()
	if code == exitOK {
		return nil
	}
	why := f.ended.Why
	if why == "" {
		why = "the goal was not completed: " + f.ended.End
	}
	if f.timedOut {
		why = fmt.Sprintf("no end within %s; %s", f.timeout, why)
	}
	return &exitError{code, errors.New(why)}
}

// goalLine is a goal in one line.
func goalLine(s streams, g *control.Goal) string {
	columns := 0
	if s.tty.out {
		columns = s.tty.columns()
	}
	if g == nil {
		return view.Line(goal.None, "", "", columns, s.colour())
	}
	tokens := goal.Thousands(g.TokensUsed) + " tokens"
	if g.TokenBudget != nil {
		tokens = goal.Thousands(g.TokensUsed) + " of " + goal.Thousands(*g.TokenBudget) + " tokens"
	}
	figures := tokens + ", " + goal.Clock(time.Duration(g.TimeUsedSeconds)*time.Second)
	return view.Line(g.State, g.Objective, figures, columns, s.colour())
}
