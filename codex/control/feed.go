package control

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/worker"
)

// events is what a feed reads: a *worker.Subscription.
type events interface {
	Next(ctx context.Context) (worker.Event, error)
	Close()
}

// liveFeed merges a worker's events with those that others publish.
type liveFeed struct {
	from   events
	leave  func()
	extra  chan Payload
	ready  []Payload
	cancel context.CancelFunc
	done   chan struct{} // the pump has ended

	in chan worker.Event
	t  translator

	mu  sync.Mutex
	err error // why the pump ended
}

// extraQueue bounds what is published beside the worker's own events: answers
// to approvals, a few at a time at most.
const extraQueue = 64

func newLiveFeed(from events, extra chan Payload, leave func()) *liveFeed {
	ctx, cancel := context.WithCancel(context.Background())
	f := &liveFeed{from: from, leave: leave, extra: extra, cancel: cancel, done: make(chan struct{}), in: make(chan worker.Event)}
	go f.pump(ctx)
	return f
}

// pump waits for the worker's events; the subscription's queue is the only one.
func (f *liveFeed) pump(ctx context.Context) {
	defer close(f.done)
	for {
		e, err := f.from.Next(ctx)
		if err != nil {
			f.mu.Lock()
			f.err = err
			f.mu.Unlock()
			return
		}
		select {
		case f.in <- e:
		case <-ctx.Done():
			return
		}
	}
}

// Next implements feed.
func (f *liveFeed) Next(ctx context.Context) (Payload, error) {
	for len(f.ready) == 0 {
		select {
		case e := <-f.in:
			f.ready = f.t.events(e)
		case p := <-f.extra:
			f.ready = append(f.ready, p)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-f.done:
			return nil, f.end()
		}
	}
	p := f.ready[0]
	f.ready = f.ready[1:]
	return p, nil
}

func (f *liveFeed) end() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var lagged *codex.LaggedError
	if errors.As(f.err, &lagged) {
		return f.err
	}
	return io.EOF
}

// Close implements feed.
func (f *liveFeed) Close() {
	f.cancel()
	<-f.done
	f.from.Close()
	f.leave()
}
