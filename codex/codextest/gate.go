package codextest

import (
	"context"
	"sync"
)

// A Gate is a step that holds the answer until the test opens it. Before the first text of a reply it also holds back
// the response's headers. A gate that is open lets everything pass; one gate may stand in several replies.
//
// An answer that waits at a gate is given up when Codex hangs up (it does on turn/interrupt) or the model closes.
type Gate struct {
	reached, open         chan struct{}
	reachedOnce, openOnce sync.Once
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{reached: make(chan struct{}), open: make(chan struct{})}
}

// Open lets every answer that waits at the gate, or ever comes to it, go on. It may be called again.
func (g *Gate) Open() { g.openOnce.Do(func() { close(g.open) }) }

// Reached is closed once an answer has come to the gate. Everything before the gate has then been written.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// WaitReached waits until an answer has come to the gate.
func (g *Gate) WaitReached(ctx context.Context) error {
	select {
	case <-g.reached:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *Gate) play(ctx context.Context, _ *answer) error {
	g.reachedOnce.Do(func() { close(g.reached) })
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return errGone
	}
}
