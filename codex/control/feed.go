package control

import (
	"context"
	"errors"
	"io"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/worker"
)

// events is what a feed reads: a *worker.Subscription.
type events interface {
	Next(ctx context.Context) (worker.Event, error)
	Close()
}

// liveFeed tells of a worker's events in the wire's words. The subscription's queue is the only one.
type liveFeed struct {
	from  events
	t     translator
	ready []Payload
}

// Next implements feed.
func (f *liveFeed) Next(ctx context.Context) (Payload, error) {
	for len(f.ready) == 0 {
		e, err := f.from.Next(ctx)
		if err != nil {
			return nil, f.end(ctx, err)
		}
		f.ready = f.t.events(e)
	}
	p := f.ready[0]
	f.ready = f.ready[1:]
	return p, nil
}

// end is why there is no next event. A worker that has ended is the end of the feed.
func (f *liveFeed) end(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if lagged := (*codex.LaggedError)(nil); errors.As(err, &lagged) {
		return err
	}
	return io.EOF
}

// Close implements feed.
func (f *liveFeed) Close() { f.from.Close() }
