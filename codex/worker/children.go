package worker

import (
	"context"
	"maps"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// children follows the threads of sub-agents. The app-server is the worker's alone, so
// whatever speaks of another thread on its connection speaks of one that the worker's
// thread has started. Their turns neither end nor change an operation.
type children struct {
	turns map[string]string // the running turn of each; "" none
	old   []string          // threads of earlier owners' sub-agents, not loaded

	// The end of what the turns have left behind, while a stop waits for it.
	ending      bool
	asked       bool              // leftovers are being ended
	interrupted map[string]string // turns that were
	ended       []Leftover

	done  chan found // of the ending that is asked for
	seen  chan found // of looking at what goes on behind an operation's end
	looks int        // that are under way
}

func newChildren(old []string) children {
	return children{old: old, turns: map[string]string{}, done: make(chan found, 1), seen: make(chan found, 1)}
}

// hearChild takes what came over the wire of another thread than the worker's.
func (l *loop) hearChild(e codex.Event) {
	if _, known := l.children.turns[e.Thread]; !known {
		l.children.turns[e.Thread] = ""
		if err := appendRecord(l.log, recordChild, threadRecord{Thread: e.Thread}); err != nil {
			l.opts.Logger.Error("a sub-agent's thread is not journalled", "thread", e.Thread, "error", err)
		}
	}
	switch n := e.Notification.(type) {
	case *protocol.TurnStartedNotification:
		l.children.turns[e.Thread] = n.Turn.ID
	case *protocol.TurnCompletedNotification:
		l.children.turns[e.Thread] = ""
	case *protocol.ServerRequestResolvedNotification:
		l.feed.publish(Event{Notification: n, Method: e.Method, Thread: e.Thread})
	}
	switch {
	case e.Request != nil:
		l.feed.publish(Event{Request: e.Request, Method: e.Method, Thread: e.Thread, size: e.Size()})
	case e.Answer != nil:
		l.feed.publish(Event{Answer: e.Answer, Method: e.Method, Thread: e.Thread})
	}
	l.advanceRest()
}

// leftovers are those of the worker's thread and its children.
func (l *loop) leftovers() leftovers {
	threads := maps.Clone(l.children.turns)
	threads[l.thread] = ""
	return leftovers{client: l.client, threads: threads, others: l.children.old, state: l.opts.StateDir}
}

// endRest begins to end what the turns have left behind, for a stop.
func (l *loop) endRest() {
	c := &l.children
	c.ending, c.ended, c.interrupted = true, nil, map[string]string{}
	l.askRest()
}

func (l *loop) askRest() {
	c := &l.children
	c.asked = true
	maps.Copy(c.interrupted, c.turns)
	rest, done := l.leftovers(), c.done
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTurn)
		defer cancel()
		done <- rest.end(ctx)
	}()
}

// restAsked takes what was ended.
func (l *loop) restAsked(f found) {
	c := &l.children
	c.asked = false
	c.ended = append(c.ended, f.left...)
	for _, o := range f.left {
		l.opts.Logger.Info("ended what a turn had left behind", "thread", o.Thread, "what", o.String())
	}
	if f.err != nil {
		l.opts.Logger.Warn("what the turns left behind may not be ended in full", "error", f.err)
	}
	l.advanceRest()
}

// advanceRest tells the core once nothing of it runs any more. A turn that a sub-agent
// has started meanwhile is interrupted as well.
func (l *loop) advanceRest() {
	c := &l.children
	if !c.ending || c.asked {
		return
	}
	for thread, turn := range c.turns {
		switch turn {
		case "":
		case c.interrupted[thread]:
			return // its end is on the way
		default:
			l.askRest()
			return
		}
	}
	c.ending = false
	l.step(lifecycle.RestEnded{})
}

// lookAtRest finds out what goes on behind an operation that has ended by itself.
func (l *loop) lookAtRest() {
	c := &l.children
	if c.looks++; c.looks > 1 {
		return // one is under way, and another follows it
	}
	rest, seen := l.leftovers(), c.seen
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		seen <- rest.look(ctx)
	}()
}

// restSeen takes what goes on.
func (l *loop) restSeen(f found) {
	c := &l.children
	again := c.looks > 1
	c.looks = 0
	if again {
		l.lookAtRest()
		return
	}
	if l.state.Op == nil && l.state.Stop == nil {
		l.running = f.left
		l.publishStatus()
	}
}

// endOrphans ends, once the app-server is gone, what has outlived it; after work that
// ended by itself it is only named.
func (l *loop) endOrphans() {
	rest := l.leftovers()
	if !l.broken {
		for _, p := range rest.processes() {
			l.opts.Logger.Warn("a process of a command goes on", "thread", p.Thread, "pid", p.PID, "command", p.Name)
		}
		return
	}
	for _, o := range rest.endProcesses(context.Background()) {
		l.opts.Logger.Info("ended what a turn had left behind", "thread", o.Thread, "what", o.String())
	}
}
