package codex

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/codexctl/codexctl/codex/internal/wire"
)

// hub gives every event its number and hands it to the subscriptions.
type hub struct {
	subs  atomic.Pointer[[]*Subscription] // replaced, never changed
	stats *counters

	mu    sync.Mutex // held while an event is numbered and queued, so that all subscriptions see one order
	seq   uint64
	ended error
	dirty []*Subscription // subscribers to be woken when the reading goroutine is about to wait
}

func newHub(stats *counters) *hub {
	h := &hub{stats: stats}
	h.subs.Store(new([]*Subscription))
	return h
}

func (h *hub) subscribe(o SubscribeOptions) *Subscription {
	if o.Queue <= 0 {
		o.Queue = DefaultQueue
	}
	if o.QueueBytes <= 0 {
		o.QueueBytes = DefaultQueueBytes
	}
	s := &Subscription{hub: h, want: o, seen: make(map[string]bool), wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended != nil {
		s.end = h.ended
		return s
	}
	subs := append(slices.Clone(*h.subs.Load()), s)
	h.subs.Store(&subs)
	return s
}

func (h *hub) remove(s *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	subs := slices.DeleteFunc(slices.Clone(*h.subs.Load()), func(t *Subscription) bool { return t == s })
	h.subs.Store(&subs)
}

// wanted returns the subscriptions and whether any wants such an event. The reading goroutine is the only caller.
func (h *hub) wanted(method string, e *wire.Envelope) ([]*Subscription, bool) {
	subs := *h.subs.Load()
	for _, s := range subs {
		if s.wants(method, e) {
			return subs, true
		}
	}
	return nil, false
}

// skip counts a frame that no subscription gets.
func (h *hub) skip() {
	h.mu.Lock()
	h.seq++
	h.mu.Unlock()
}

// publish numbers e and queues it for those of subs that want it. The subscribers are woken by flush.
func (h *hub) publish(e Event, subs []*Subscription, from *wire.Envelope, droppable bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	e.Seq = h.seq
	for _, s := range subs {
		if len(subs) == 1 || s.wants(e.Method, from) {
			h.pushLocked(s, e, droppable)
		}
	}
}

// ask numbers a server request, queues it for those who want it and returns them: they are told of its answer too.
func (h *hub) ask(e Event, from *wire.Envelope) (told []*Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	e.Seq = h.seq
	for _, s := range *h.subs.Load() {
		if s.wants(e.Method, from) {
			h.pushLocked(s, e, false)
			told = append(told, s)
		}
	}
	return told
}

// answer numbers how a server request was settled and queues it for those who were told of the request.
func (h *hub) answer(e Event, told []*Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	e.Seq = h.seq
	for _, s := range told {
		h.pushLocked(s, e, false)
	}
	h.flushLocked() // it may come from a handler, with nothing being read for long
}

// reply numbers the outcome of a call and queues it: for one subscription, or for all that take replies.
func (h *hub) reply(r *Reply, to *Subscription, size int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	e := Event{Seq: h.seq, Method: r.Method, Reply: r, size: int32(min(size, 1<<30))}
	for _, s := range *h.subs.Load() {
		if s == to || to == nil && s.want.Replies {
			h.pushLocked(s, e, false)
		}
	}
	h.flushLocked() // it may come from a timer, with nothing being read for long
}

func (h *hub) pushLocked(s *Subscription, e Event, droppable bool) {
	dropped, waiting := s.push(e, droppable)
	if dropped {
		h.stats.dropped.Add(1)
	}
	if waiting && !slices.Contains(h.dirty, s) {
		h.dirty = append(h.dirty, s)
	}
}

// flush wakes the subscribers that have something to take. The reading goroutine calls it before it waits for input, so
// that a burst of frames costs one wake-up and not one each.
func (h *hub) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.flushLocked()
}

func (h *hub) flushLocked() {
	for i, s := range h.dirty {
		s.rouse()
		h.dirty[i] = nil
	}
	h.dirty = h.dirty[:0]
}

// end finishes all subscriptions, behind the events they hold.
func (h *hub) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = err
	for _, s := range *h.subs.Load() {
		s.finish(err)
	}
}
