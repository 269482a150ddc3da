package codex

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	controlSlots = 2 // of the requests in flight, kept for control methods
	maxRetries   = 5
	firstPause   = 50 * time.Millisecond

	// A request whose time is over is looked at so often while there is still something to be read. They are counted and not
	// timed: a process that was suspended finds its answers in the pipe, and its deadlines passed.
	deadlineLooks = 200
	lookAgain     = 5 * time.Millisecond
)

// flight holds every request that has no outcome yet and says which is written next. Every change of a request's phase is
// made here under one lock, and a request gets its outcome in one place.
type flight struct {
	max      int // requests in flight
	reserved int // of these, for control
	stats    *counters
	finished func(*request)      // tells the outcome to whom it concerns; called without the lock
	behind   func() bool         // something was written to us and not yet taken in
	giveUp   func(wireID uint64) // forgets a request that was sent and waits no longer

	mu      sync.Mutex
	ended   error // why no more is accepted
	last    CallID
	live    map[CallID]*request
	queue   lanes
	ready   []*request // have a slot, in the order in which they are to be written
	busy    int        // slots taken: by requests that are ready, being written, or sent
	answers []func()   // write the answer to a server request; they need no slot
	writes  bool       // somebody is writing: the writer, or a caller for itself
	work    chan struct{}
	over    bool // the writer is to end
}

func newFlight(slots int, stats *counters) *flight {
	return &flight{
		max: slots, reserved: min(controlSlots, slots-1), stats: stats,
		live: make(map[CallID]*request), work: make(chan struct{}, 1),
	}
}

// add takes a request in. The order of the calls is the order on the wire as far as slots are free, and for the requests
// of one thread always. A request that could not be encoded comes with the error and ends at once.
//
// If it is the only thing to be written and may be written by its caller, mine is true: its phase is writing, and the
// caller goes on with wrote, unwritten or handBack.
func (f *flight) add(r *request, unfit error, short bool) (mine bool) {
	f.mu.Lock()
	f.last++
	r.id = f.last
	if unfit == nil {
		unfit = f.ended
	}
	if unfit != nil {
		r.outcome = r.failure(NotSent, unfit)
		r.phase = finished
		f.mu.Unlock()
		f.finished(r)
		return false
	}
	f.live[r.id] = r
	r.timer = time.AfterFunc(time.Until(r.deadline), func() { f.expire(r) })
	f.queue.add(r)
	f.admitLocked()
	mine = short && !f.writes && r.phase == admitted && len(f.ready) == 1 && len(f.answers) == 0
	if mine {
		f.ready = f.ready[:0]
		r.phase = writing
		f.writes = true
	} else if len(f.ready) > 0 {
		f.wakeLocked()
	}
	f.mu.Unlock()
	return mine
}

// handBack gives a request whose caller could not write it to the writer, in its old place.
func (f *flight) handBack(r *request) {
	f.mu.Lock()
	if r.phase == writing {
		r.phase = admitted
		f.ready = slices.Insert(f.ready, 0, r)
	}
	err := f.ended
	f.restLocked()
	f.mu.Unlock()
	if err != nil {
		f.settle(r, r.failure(NotSent, err), admitted)
	}
}

// rested is called by a caller who has written for itself.
func (f *flight) rested() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.restLocked()
}

func (f *flight) restLocked() {
	f.writes = false
	if len(f.ready) > 0 || len(f.answers) > 0 || f.over {
		f.wakeLocked()
	}
}

// admitLocked gives free slots to those that wait for one.
func (f *flight) admitLocked() {
	for f.busy < f.max && f.ended == nil {
		var r *request
		if f.busy < f.max-f.reserved {
			r = f.queue.takeNext()
		} else {
			r = f.queue.takeUrgent()
		}
		if r == nil {
			return
		}
		r.phase = admitted
		f.busy++
		f.ready = append(f.ready, r)
	}
}

func (f *flight) wakeLocked() {
	select {
	case f.work <- struct{}{}:
	default:
	}
}

// answer lets the writer run write, in order with other answers and in front of requests. It is false after the end.
func (f *flight) answer(write func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return false
	}
	f.answers = append(f.answers, write)
	f.wakeLocked()
	return true
}

// take waits for the next thing to be written: an answer, or a request whose phase is writing from now on. It is false
// when there will be none.
func (f *flight) take() (answer func(), r *request, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case f.over:
			return nil, nil, false
		case f.writes: // a caller, who wakes us when it is done
		case len(f.answers) > 0:
			answer, f.answers = f.answers[0], f.answers[1:]
			f.writes = true
			return answer, nil, true
		case len(f.ready) > 0:
			r, f.ready = f.ready[0], f.ready[1:]
			r.phase = writing
			f.writes = true
			return nil, r, true
		}
		f.mu.Unlock()
		<-f.work
		f.mu.Lock()
	}
}

// wrote records that a request left under the id. Its response may have come already.
func (f *flight) wrote(r *request, wireID uint64) {
	f.mu.Lock()
	r.wireID = wireID
	if r.phase == writing {
		r.phase = sent
	}
	f.mu.Unlock()
	if !time.Now().Before(r.deadline) {
		f.expire(r) // the timer has looked away while it was written
	}
}

// answered takes the response to a request. It is false if nobody waits for it any more.
func (f *flight) answered(r *request, outcome *Reply) bool {
	return f.settle(r, outcome, writing, sent)
}

// expire ends a request whose time is over, unless its answer may be there already and was not yet read. The write of one
// that is being written has the same deadline.
func (f *flight) expire(r *request) {
	if f.behind() && f.lookLater(r) {
		return
	}
	_ = f.settle(r, r.failure(NotSent, ErrDeadline), waiting, admitted, resting) ||
		f.settle(r, r.failure(Unknown, ErrDeadline), sent)
}

// lookLater has expire called again soon, but not for ever: a server that floods us must not hold up a deadline.
func (f *flight) lookLater(r *request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.phase != sent || r.looks >= deadlineLooks {
		return false
	}
	r.looks++
	r.timer.Stop()
	r.timer = time.AfterFunc(lookAgain, func() { f.expire(r) })
	return true
}

// withdraw takes back a request that was not written yet.
func (f *flight) withdraw(id CallID) bool {
	f.mu.Lock()
	r := f.live[id]
	f.mu.Unlock()
	return r != nil && f.settle(r, r.failure(NotSent, ErrWithdrawn), waiting, admitted, resting)
}

// unwritten ends a request whose write failed after that many bytes.
func (f *flight) unwritten(r *request, written int, err error) {
	d := NotSent
	if written > 0 {
		d = Unknown
	}
	f.settle(r, r.failure(d, err), writing)
}

// settle gives a request its outcome if it is in one of the phases, and reports whether it was. It is the only place where
// a request ends.
func (f *flight) settle(r *request, outcome *Reply, in ...phase) bool {
	f.mu.Lock()
	was := r.phase
	if !slices.Contains(in, was) {
		f.mu.Unlock()
		return false
	}
	r.phase = finished
	r.outcome = outcome
	if r.refusal != nil && (was == waiting || was == admitted || was == resting) {
		// It was refused once and has not gone again: the refusal is the outcome.
		r.outcome = &Reply{Call: r.id, Method: r.method.Name, Delivery: Rejected, Err: r.refusal}
	}
	r.timer.Stop()
	delete(f.live, r.id)
	switch was {
	case waiting:
		f.queue.remove(r)
	case admitted:
		f.ready = slices.DeleteFunc(f.ready, func(x *request) bool { return x == r })
		f.freeLocked()
	case writing, sent:
		f.freeLocked()
	case resting:
		r.rest.Stop()
	}
	giveUp, wireID := was == sent && outcome.Delivery == Unknown, r.wireID
	f.mu.Unlock()
	if giveUp {
		f.giveUp(wireID)
	}
	f.finished(r)
	return true
}

func (f *flight) freeLocked() {
	f.busy--
	f.admitLocked()
	if len(f.ready) > 0 {
		f.wakeLocked()
	}
}

// retry lets a read that an overloaded server refused rest and go again. It is false when it is too late for that, or was
// tried too often.
func (f *flight) retry(r *request, refusal *RPCError) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	pause := firstPause << r.retries
	pause = pause/2 + rand.N(pause) // so that many refused at once do not come back at once
	if r.phase != writing && r.phase != sent || f.ended != nil || r.retries >= maxRetries || time.Now().Add(pause).After(r.deadline) {
		return false
	}
	r.retries++
	f.stats.retries.Add(1)
	r.refusal = refusal
	r.phase = resting
	f.freeLocked()
	r.rest = time.AfterFunc(pause, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.phase == resting && f.ended == nil {
			r.phase = waiting
			f.queue.add(r)
			f.admitLocked()
			f.wakeLocked()
		}
	})
	return true
}

// refuse accepts no more.
func (f *flight) refuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended == nil {
		f.ended = err
	}
}

// close accepts no more and ends what was not written. What was sent may still be answered.
func (f *flight) close(err error) {
	f.refuse(err)
	for _, r := range f.pending() {
		f.settle(r, r.failure(NotSent, err), waiting, admitted, resting)
	}
}

// stop lets the writer end after what it is writing.
func (f *flight) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.answers = nil
	f.wakeLocked()
}

// lose ends all that is left, when nothing can be answered any more and the writer has ended.
func (f *flight) lose(err error) {
	f.close(err)
	for _, r := range f.pending() {
		f.settle(r, r.failure(Unknown, err), writing, sent)
	}
}

// pending returns the requests without an outcome, in the order of the calls.
func (f *flight) pending() []*request {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*request, 0, len(f.live))
	for _, r := range f.live {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *request) int { return int(a.id) - int(b.id) })
	return all
}

func (f *flight) load() (inFlight, waiting int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.busy - len(f.ready), len(f.live) - f.busy + len(f.ready)
}
