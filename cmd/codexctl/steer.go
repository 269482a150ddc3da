package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/codex/control"
)

type steerOptions struct {
	streams streams
	key     keyOptions
	json    bool
}

func newSteer(s streams) *cobra.Command {
	o := &steerOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "steer TEXT",
		Short: "Add text to the turn that runs; the model hears it with its next request",
		Args:  asUsage(cobra.MinimumNArgs(1)),
		RunE:  func(cmd *cobra.Command, args []string) error { return runSteer(cmd.Context(), o, args) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	o.key.register(cmd.Flags())
	return cmd
}

// steerReport is the JSON of codexctl steer.
type steerReport struct {
	Steered bool `json:"steered"` // always true: anything else is an error
}

func runSteer(ctx context.Context, o *steerOptions, args []string) error {
	text, err := textOf(o.streams, args)
	if err != nil {
		return err
	}
	at, err := knownSite(o.streams, o.key)
	if err != nil {
		return err
	}
	_, err = call(ctx, at, control.Command{ID: commandID(), Name: control.Steer, Text: text})
	if errors.Is(err, control.ErrNoOwner) {
		return errors.New("nothing runs here that could be steered; codexctl prompt begins a turn")
	}
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(o.streams.out, steerReport{Steered: true})
	}
	return nil
}
