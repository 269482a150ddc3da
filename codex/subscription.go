package codex

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/codexctl/codexctl/codex/internal/wire"
)

// DefaultQueue is how many events a subscription holds for its subscriber unless told otherwise, and DefaultQueueBytes how
// many bytes of wire frames they may have come from.
const (
	DefaultQueue      = 16 << 10
	DefaultQueueBytes = 64 << 20
)

// SubscribeOptions chooses what a subscription gets. The zero value gets every notification and server request.
type SubscribeOptions struct {
	// Thread keeps what names another thread out. What names no thread, such as an account notification, still comes.
	Thread string
	// Methods keeps out notifications and server requests whose method it returns false for. It is called once a method and
	// must not block. Nil takes all. Replies do not pass it.
	Methods func(method string) bool
	// Replies asks for the outcomes of all calls of [Dispatch] that are not sent to one subscription with [ReplyTo].
	Replies bool
	// Queue is how many events are held (0: DefaultQueue), QueueBytes how many bytes they may have had on the wire (0:
	// DefaultQueueBytes). Beyond either, events that can be made up for are dropped and counted. The others, the control
	// events, are held up to twice as many; a subscriber that is slower even than that is closed with a *LaggedError.
	Queue      int
	QueueBytes int
}

// LaggedError ends a subscription that could not hold its control events: the client never drops one and never waits.
type LaggedError struct{ Events, Bytes int }

func (e *LaggedError) Error() string {
	return fmt.Sprintf("subscriber too slow: %d events (%d bytes) were waiting for it; subscribe again and read the thread back", e.Events, e.Bytes)
}

// Subscription is a bounded queue of events in wire order.
type Subscription struct {
	hub  *hub
	want SubscribeOptions
	seen map[string]bool // answers of want.Methods; the reading goroutine only

	mu      sync.Mutex
	queue   []Event
	bytes   int    // of queue
	lagged  uint64 // events dropped behind the last one of queue
	gap     uint64 // the number of the last one of them
	waiting bool
	end     error // set when nothing more will be queued, but for replies until deaf
	deaf    bool
	wake    chan struct{}

	closed atomic.Bool // by Close: what is left of batch is gone

	heldEvents atomic.Int64 // taken from queue and not yet given out
	heldBytes  atomic.Int64

	// The subscriber's goroutine only.
	batch []Event // what is left of taken
	taken []Event // empty, to be used again
}

// spareEvents is the largest emptied queue that is kept for the next use.
const spareEvents = 512

// Next returns the next event. It waits for one until ctx ends, and then returns ctx's error; nothing is lost by that. After
// the connection has ended it returns the remaining events and then, for ever, why it ended: [ErrClosed] or a [*LostError]; a
// [*LaggedError] or [ErrSubscriptionClosed] if the subscription ended before. A [Dispatch] that was made before the end was
// returned has had its reply. Next must not be called by two goroutines at once.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	for {
		if s.closed.Load() {
			s.batch = nil
		}
		if len(s.batch) > 0 {
			return s.take(), nil
		}
		if ctx.Err() != nil {
			return Event{}, context.Cause(ctx)
		}
		s.mu.Lock()
		switch {
		case len(s.queue) > 0:
			s.refillLocked()
		case s.lagged > 0:
			e := Event{Seq: s.gap, Lagged: s.lagged}
			s.lagged = 0
			s.mu.Unlock()
			return e, nil
		case s.end != nil:
			s.deaf = true
			err := s.end
			s.mu.Unlock()
			return Event{}, err
		default:
			s.waiting = true
			s.mu.Unlock()
			select {
			case <-s.wake:
			case <-ctx.Done():
				return Event{}, context.Cause(ctx)
			}
			continue
		}
		s.mu.Unlock()
	}
}

func (s *Subscription) take() Event {
	if first := &s.batch[0]; first.Lagged > 0 { // the gap in front of it is told as an event of its own
		lagged := first.Lagged
		first.Lagged = 0
		return Event{Seq: first.Seq - 1, Lagged: lagged}
	}
	e := s.batch[0]
	s.batch[0] = Event{}
	s.batch = s.batch[1:]
	s.heldEvents.Add(-1)
	s.heldBytes.Add(-int64(e.size))
	if e.Reply != nil {
		e.Reply.settle()
	}
	return e
}

// refillLocked takes the whole queue at once, so that the reading goroutine and the subscriber rarely meet at the lock.
func (s *Subscription) refillLocked() {
	spare := s.taken[:0]
	if cap(spare) > spareEvents {
		spare = nil
	}
	s.taken, s.batch, s.queue = s.queue, s.queue, spare
	s.heldEvents.Store(int64(len(s.batch)))
	s.heldBytes.Store(int64(s.bytes))
	s.bytes = 0
}

// Close ends the subscription. Events not yet taken are gone: the next Next, and one that waits, returns
// [ErrSubscriptionClosed], or why the subscription had ended before.
func (s *Subscription) Close() {
	s.closed.Store(true)
	s.hub.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue, s.bytes, s.lagged = nil, 0, 0
	if s.end == nil {
		s.end = ErrSubscriptionClosed
	}
	s.deaf = true
	s.wakeLocked()
}

// Idle reports whether nothing is queued and Next is waiting for more.
func (s *Subscription) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting && len(s.queue) == 0 && s.lagged == 0
}

// wants decides by method and thread, without the lock: the reading goroutine is the only caller.
func (s *Subscription) wants(method string, e *wire.Envelope) bool {
	if s.want.Thread != "" {
		if thread := e.Thread(); len(thread) > 0 && string(thread) != s.want.Thread {
			return false
		}
	}
	if s.want.Methods == nil {
		return true
	}
	yes, known := s.seen[method]
	if !known {
		yes = s.want.Methods(method)
		s.seen[method] = yes
	}
	return yes
}

// push queues e and reports whether the subscriber waits to be woken.
func (s *Subscription) push(e Event, droppable bool) (dropped, waiting bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		if e.Reply != nil && !s.deaf { // of a request that was made when the connection had ended
			s.queue = append(s.queue, e)
		}
		return false, false
	}
	events := len(s.queue) + int(s.heldEvents.Load())
	bytes := s.bytes + int(s.heldBytes.Load())
	full := events >= s.want.Queue || bytes >= s.want.QueueBytes
	switch {
	case droppable && full:
		s.lagged++
		s.gap = e.Seq
		return true, s.waiting
	case events >= 2*s.want.Queue || bytes >= 2*s.want.QueueBytes:
		s.end, s.deaf = &LaggedError{Events: events, Bytes: bytes}, true
		return false, s.waiting
	}
	e.Lagged, s.lagged = s.lagged, 0
	s.queue = append(s.queue, e)
	s.bytes += int(e.size)
	return false, s.waiting
}

func (s *Subscription) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end = err
	}
	s.wakeLocked()
}

func (s *Subscription) rouse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakeLocked()
}

func (s *Subscription) wakeLocked() {
	s.waiting = false
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
