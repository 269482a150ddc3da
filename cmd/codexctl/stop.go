package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex/control"
)

type stopOptions struct {
	streams streams
	key     keyOptions
	owner   bool
	json    bool
}

func newStop(s streams) *cobra.Command {
	o := &stopOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Pause the goal and interrupt its turn; a goal that is complete stays complete",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runStop(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.owner, "owner", false, "end the owner as well")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	o.key.register(cmd.Flags())
	return cmd
}

// stopReport is the JSON of codexctl stop.
type stopReport struct {
	Owned bool          `json:"owned"` // false: there was no owner, so nothing ran
	End   string        `json:"end"`   // how the operation ended; "" none ran
	Goal  *control.Goal `json:"goal"`
}

func runStop(ctx context.Context, o *stopOptions) error {
	at, err := knownSite(o.streams, o.key)
	if err != nil {
		return err
	}
	report := stopReport{Owned: true}
	value, err := call(ctx, at, control.Command{ID: commandID(), Name: control.Stop, Owner: o.owner})
	switch {
	case errors.Is(err, control.ErrNoOwner):
		report.Owned = false
	case err != nil:
		if report.Goal, err = o.settle(ctx, at, err); err != nil {
			return err
		}
	default:
		report.End, report.Goal = value.End, value.Goal
		if value.Note != "" {
			fmt.Fprintln(o.streams.err, view.Clean(value.Note)) // what it has ended beside the turn
		}
		if o.owner {
			if err := awaitNoOwner(ctx, at); err != nil {
				return err
			}
		}
	}
	if o.json {
		return writeJSON(o.streams.out, report)
	}
	line := "nothing ran"
	if report.End != "" {
		line = report.End
	}
	if report.Goal != nil {
		line = goalLine(o.streams, report.Goal)
	}
	_, err = fmt.Fprintln(o.streams.out, line)
	return err
}

// settle reads back what a stop that was asked for and not acknowledged has left,
// and pauses the goal. It is an error unless nothing is active then.
func (o *stopOptions) settle(ctx context.Context, at site, err error) (*control.Goal, error) {
	if codeOf(err) == exitBusy { // nothing was sent
		return nil, err
	}
	operate := &operateOptions{streams: o.streams, key: o.key}
	g, err := operate.aftermath(ctx, at, nil, err, exitOK)
	if codeOf(err) == exitOK {
		fmt.Fprintf(o.streams.err, "codexctl: %s\n", oneLine(err))
		return g, nil
	}
	return nil, err
}

// awaitNoOwner waits until nobody listens any more.
func awaitNoOwner(ctx context.Context, at site) error {
	ctx, cancel := context.WithTimeout(ctx, closePatience+5*time.Second)
	defer cancel()
	for {
		conn, err := control.Dial(ctx, at.socket)
		switch {
		case errors.Is(err, control.ErrNoOwner):
			return nil
		case err != nil:
			return err
		}
		// Its end is the end of the stream.
		for err == nil {
			_, err = conn.Next(ctx)
		}
		conn.Close()
		if ctx.Err() != nil {
			return errors.New("the owner was told to end, but it still listens")
		}
	}
}
