package worker

import (
	"context"
	"strings"
	"sync"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
)

// Event is one thing that happened to a worker, in the order it became known.
// Exactly one of Notification, Request, Answer, Operation, Elsewhere and Lagged is set.
type Event struct {
	Seq uint64 // counts the worker's events from 1; 0 with Lagged
	// Notification is one of the thread, as Codex sent it.
	Notification protocol.Notification
	// Request is one that Codex asks of the client, such as an approval.
	Request *codex.ServerRequest
	// Answer is how such a request was settled; it comes behind the request.
	Answer *codex.ServerAnswer
	Method string // of the notification or the request
	// Thread is the sub-agent's thread that a request, its answer, or the notification of
	// its end, is about; "" is the worker's own.
	Thread string
	// Operation began, became a goal's, or ended.
	Operation *OperationEvent
	// Elsewhere is the goal as somebody else changed it; nil otherwise.
	Elsewhere *ElsewhereEvent
	// Lagged is how many streamed pieces were dropped because the subscriber was
	// too slow.
	Lagged uint64

	size int // of its frame on the wire
}

// OperationEvent is a step in the life of an operation.
type OperationEvent struct {
	Operation *Operation
	Step      OperationStep
	Outcome   *Outcome // set when it ended
}

// OperationStep is what happened to an operation.
type OperationStep string

// Steps of an operation.
const (
	Began  OperationStep = "began"
	Became OperationStep = "became" // a prompt's operation pursues a goal from now on
	Ended  OperationStep = "ended"
)

// ElsewhereEvent tells that someone else changed the goal under a running
// operation. Goal is what it is now; nil is none.
type ElsewhereEvent struct{ Goal *protocol.ThreadGoal }

// feed hands events to subscribers without ever waiting for one.
type feed struct {
	mu   sync.Mutex
	seq  uint64
	subs map[*Subscription]struct{}
	over bool
}

// What a subscription holds before streamed pieces are dropped. At twice as much of the rest it ends.
const (
	queueLength = 4096
	queueBytes  = 64 << 20 // of the frames that the events came from
)

// Subscription is one subscriber's queue.
type Subscription struct {
	feed *feed
	wake chan struct{}

	mu     sync.Mutex
	queue  []Event
	bytes  int // of queue
	lagged uint64
	err    error
}

// Subscribe begins to queue the worker's events, from the next one on.
func (w *Worker) Subscribe() *Subscription {
	s := &Subscription{feed: &w.feed, wake: make(chan struct{}, 1)}
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	if w.feed.over {
		s.err = ErrClosed
		return s
	}
	if w.feed.subs == nil {
		w.feed.subs = map[*Subscription]struct{}{}
	}
	w.feed.subs[s] = struct{}{}
	return s
}

// Next returns the next event. It waits for one until ctx ends, and serves one
// goroutine at a time. After the worker has ended it returns what is left and then [ErrClosed]; a [*codex.LaggedError]
// if the subscriber was too slow even for what is never dropped.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	for {
		s.mu.Lock()
		switch {
		case len(s.queue) > 0:
			e := s.queue[0]
			s.queue[0] = Event{} // not to be kept alive by the array
			s.queue = s.queue[1:]
			s.bytes -= e.size
			s.mu.Unlock()
			return e, nil
		case s.lagged > 0:
			e := Event{Lagged: s.lagged}
			s.lagged = 0
			s.mu.Unlock()
			return e, nil
		case s.err != nil:
			err := s.err
			s.mu.Unlock()
			return Event{}, err
		}
		s.mu.Unlock()
		select {
		case <-s.wake:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}

// Close ends the subscription. Next returns [ErrClosed] from then on.
func (s *Subscription) Close() {
	s.feed.mu.Lock()
	delete(s.feed.subs, s)
	s.feed.mu.Unlock()
	s.end(ErrClosed, true)
}

func (f *feed) publish(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	e.Seq = f.seq
	for s := range f.subs {
		if !s.push(e) {
			delete(f.subs, s)
		}
	}
}

func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	for s := range f.subs {
		s.end(ErrClosed, false)
	}
	f.subs = nil
}

func (f *feed) watched() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subs) > 0
}

func (s *Subscription) push(e Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, bytes := len(s.queue), s.bytes+e.size
	switch {
	case (n >= queueLength || bytes > queueBytes) && streamed(e.Method):
		s.lagged++
	case n >= 2*queueLength || bytes > 2*queueBytes && n > 0:
		s.err = &codex.LaggedError{Events: n, Bytes: s.bytes}
		s.queue, s.bytes, s.lagged = nil, 0, 0
		s.wakeLocked()
		return false
	default:
		if s.lagged > 0 {
			s.queue = append(s.queue, Event{Lagged: s.lagged})
			s.lagged = 0
		}
		s.queue = append(s.queue, e)
		s.bytes = bytes
	}
	s.wakeLocked()
	return true
}

func (s *Subscription) end(err error, drop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if drop {
		s.queue, s.bytes, s.lagged = nil, 0, 0
	}
	if s.err == nil {
		s.err = err
	}
	s.wakeLocked()
}

func (s *Subscription) wakeLocked() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// streamed reports whether a notification is a piece of something that comes
// whole later.
func streamed(method string) bool {
	return strings.HasSuffix(method, "Delta") || strings.HasSuffix(method, "/delta")
}
