package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/goal"
)

type statusOptions struct {
	operateOptions
}

func newStatus(s streams) *cobra.Command {
	o := &statusOptions{operateOptions{streams: s}}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the goal, what runs now and what can be done",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	o.key.register(cmd.Flags())
	return cmd
}

func runStatus(ctx context.Context, o *statusOptions) (err error) {
	at, err := knownSite(o.streams, o.key)
	if err != nil {
		return err
	}
	snapshot, err := o.snapshot(ctx, at)
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(o.streams.out, snapshot)
	}
	return printSnapshot(o.streams, o.streams.out, snapshot)
}

// snapshot asks the owner, or with no owner reads what is stored.
func (o *statusOptions) snapshot(ctx context.Context, at site) (s *control.Snapshot, err error) {
	if s, err := starting(ctx, at); s != nil || err != nil {
		return s, err
	}
	link, err := o.visit(ctx, at, o.key)
	if errors.Is(err, errNothingStored) {
		key := at.identity.Key
		return &control.Snapshot{
			Project: key.Project, Session: key.Session, Directory: key.Dir,
			State: goal.None, Label: goal.None.Label(), Colour: goal.None.Colour(),
			Actions: []string{string(goal.Set)}, Warnings: []string{},
		}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, link.close()) }()
	value, err := link.ask(ctx, control.Command{ID: commandID(), Name: control.Status})
	if err != nil {
		return nil, err
	}
	if link.own != nil { // for this moment, only to look
		value.Status.Owner = nil
	}
	return value.Status, nil
}

// printSnapshot shows a snapshot to people.
func printSnapshot(s streams, out io.Writer, snap *control.Snapshot) error {
	columns := 0
	if s.tty.out {
		columns = s.tty.columns()
	}
	figures, objective := "", ""
	if snap.Goal != nil {
		figures = goalFigures(snap.Goal)
		objective = snap.Goal.Objective
	}
	lines := []string{view.Line(snap.State, objective, figures, columns, s.colour())}
	row := func(label, text string) {
		if text != "" {
			lines = append(lines, fmt.Sprintf("  %-9s %s", label, view.Clean(text)))
		}
	}
	row("why", snap.Why)
	if snap.Operation != nil {
		row("running", snap.Operation.Kind+" "+snap.Operation.ID)
	}
	row("turn", snap.Turn)
	row("now", snap.Now)
	row("thread", snap.Thread)
	row("directory", snap.Directory)
	if snap.Owner != nil {
		row("owner", fmt.Sprintf("process %d", snap.Owner.PID))
	} else {
		row("owner", "none")
	}
	row("actions", strings.Join(snap.Actions, ", "))
	for _, w := range snap.Warnings {
		row("warning", w)
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

// goalFigures is what a goal has used.
func goalFigures(g *control.Goal) string {
	tokens := goal.Thousands(g.TokensUsed) + " tokens"
	if g.TokenBudget != nil {
		tokens = goal.Thousands(g.TokensUsed) + " of " + goal.Thousands(*g.TokenBudget) + " tokens"
	}
	return tokens + ", " + goal.Clock(time.Duration(g.TimeUsedSeconds)*time.Second)
}
