package codex

import (
	"slices"

	"github.com/codexctl/codexctl/codex/protocol"
)

// lanes holds the requests that wait for a slot. Each thread has a lane, requests that name no thread share one. The lanes
// take turns, so that a thousand reads of one thread do not hold up another; within a lane the order of the calls holds,
// except that a control request may pass reads.
type lanes struct {
	ring     []*lane // those that are not empty, the next to be served first
	byThread map[string]*lane
	waiting  int
	controls int // of the waiting
}

type lane struct {
	thread   string
	requests []*request
	controls int
}

func (l *lanes) add(r *request) {
	if l.byThread == nil {
		l.byThread = make(map[string]*lane)
	}
	q := l.byThread[r.thread]
	if q == nil {
		q = &lane{thread: r.thread}
		l.byThread[r.thread] = q
		l.ring = append(l.ring, q)
	}
	q.requests = append(q.requests, r)
	l.count(q, r, 1)
}

func (l *lanes) count(q *lane, r *request, by int) {
	l.waiting += by
	if r.control {
		q.controls += by
		l.controls += by
	}
}

// takeNext takes the first request of the lane whose turn it is; nil if none waits.
func (l *lanes) takeNext() *request {
	if len(l.ring) == 0 {
		return nil
	}
	q := l.ring[0]
	r := q.requests[0]
	l.takeFrom(q, 0)
	if len(q.requests) > 0 {
		l.ring = append(l.ring[1:], q)
	}
	return r
}

// takeUrgent takes the first control request for a slot that is reserved for such; nil if none waits. It passes reads of
// its thread, but not a mutation: turn/interrupt in front of the turn/start that it is meant for would do harm. Such a
// mutation gets the slot instead.
func (l *lanes) takeUrgent() *request {
	if l.controls == 0 {
		return nil
	}
	for _, q := range l.ring {
		if q.controls == 0 {
			continue
		}
		i := slices.IndexFunc(q.requests, func(r *request) bool { return r.control || r.method.Effect == protocol.Mutates })
		r := q.requests[i]
		l.takeFrom(q, i)
		return r
	}
	return nil
}

func (l *lanes) remove(r *request) {
	if q := l.byThread[r.thread]; q != nil {
		if i := slices.Index(q.requests, r); i >= 0 {
			l.takeFrom(q, i)
		}
	}
}

// takeFrom removes a request, and its lane when that is empty.
func (l *lanes) takeFrom(q *lane, i int) {
	l.count(q, q.requests[i], -1)
	if i == 0 {
		q.requests[0] = nil
		q.requests = q.requests[1:]
	} else {
		q.requests = slices.Delete(q.requests, i, i+1)
	}
	if len(q.requests) == 0 {
		delete(l.byThread, q.thread)
		l.ring = slices.DeleteFunc(l.ring, func(x *lane) bool { return x == q })
	}
}
