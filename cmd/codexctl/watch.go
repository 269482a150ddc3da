package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex/control"
)

type watchOptions struct {
	streams streams
	key     keyOptions
	json    bool
}

func newWatch(s streams) *cobra.Command {
	o := &watchOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Follow what an owner in another process does, without touching it",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runWatch(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print one event a line")
	o.key.register(cmd.Flags())
	return cmd
}

// runWatch ends well when the owner ends or the watcher has seen enough.
func runWatch(ctx context.Context, o *watchOptions) (err error) {
	at, err := knownSite(o.streams, o.key)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	link, err := join(ctx, at, func(context.Context) (*owner, error) { return nil, noOwner(at) })
	if errors.Is(err, control.ErrNoOwner) {
		return errors.New("nobody owns this session now, so there is nothing to watch; codexctl status shows what is stored")
	}
	if err != nil && ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer link.Close()
	o.streams.release()
	var first view.State
	var early []control.Event // the status and what came before it
	value, err := link.askEach(ctx, control.Command{ID: commandID(), Name: control.Status}, func(e control.Event) { early = append(early, e) })
	if ctx.Err() != nil { // told to go before the answer came
		o.streams.hurry()
		return nil
	}
	if err != nil {
		return err
	}
	first.Goal, first.Now = value.Status.State, value.Status.Now
	if g := value.Status.Goal; g != nil {
		first.Objective, first.Tokens, first.Budget = g.Objective, g.TokensUsed, g.TokenBudget
	}
	if !o.json {
		if err := printSnapshot(o.streams, o.streams.out, value.Status); err != nil {
			return err
		}
	}
	show := newShow(o.streams, o.json, o.streams.out, o.streams.tty.out, first)
	defer func() { err = errors.Join(err, show.end()) }()
	for _, e := range early {
		if err := show.event(e); err != nil {
			return err
		}
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	events := pump(ctx, link.Conn)
	for {
		select {
		case in, open := <-events:
			switch {
			case !open, errors.Is(in.err, context.Canceled):
				o.streams.hurry()
				return nil
			case errors.Is(in.err, io.EOF):
				return nil
			case in.err != nil:
				return in.err
			}
			if err := show.event(in.event); err != nil {
				return err
			}
		case <-tick.C:
			if err := show.tick(); err != nil {
				return err
			}
		}
	}
}
