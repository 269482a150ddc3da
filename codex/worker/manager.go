package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// Manager makes workers on first use and keeps them until they end.
type Manager struct {
	opts Options

	mu     sync.Mutex
	slots  map[string]*slot // by identity hash
	closed bool
}

// slot is a worker, or the making of one.
type slot struct {
	ready  chan struct{} // closed when worker or err is set
	worker *Worker
	err    error
}

// NewManager makes a manager. Nothing is started or written yet.
func NewManager(o Options) (*Manager, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Manager{opts: o, slots: map[string]*slot{}}, nil
}

// Worker returns the key's worker, and starts it first if need be: it takes the
// key, waits for the app-server of a dead owner to end, starts an app-server,
// finds out what became of mutations left open, and starts a thread if the key has
// none. A stored thread is resumed only when something is to run on it.
//
// Errors: [*OwnedError], [ErrPredecessorAlive], those of [codex.Start].
func (m *Manager) Worker(ctx context.Context, key Key) (*Worker, error) {
	return m.worker(ctx, key, "")
}

// Adopt is Worker on an existing native thread, which is the key's from then on.
// If the key has a running worker on another thread, the error says so.
func (m *Manager) Adopt(ctx context.Context, key Key, thread string) (*Worker, error) {
	w, err := m.worker(ctx, key, thread)
	if err == nil && w.thread != thread {
		return nil, fmt.Errorf("the worker runs thread %s; close it before it can adopt %s", w.thread, thread)
	}
	return w, err
}

func (m *Manager) worker(ctx context.Context, key Key, thread string) (*Worker, error) {
	id, err := Identify(key, m.opts.Codex.Env)
	if err != nil {
		return nil, err
	}
	for {
		s, mine, err := m.slotOf(id.Hash())
		if err != nil {
			return nil, err
		}
		if mine {
			s.worker, s.err = open(ctx, m.opts, id, thread)
			if s.err != nil {
				m.forget(id.Hash(), s)
			}
			close(s.ready)
			return s.worker, s.err
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if s.err != nil {
			return nil, s.err
		}
		select {
		case <-s.worker.done:
			m.forget(id.Hash(), s)
		default:
			return s.worker, nil
		}
	}
}

func (m *Manager) slotOf(hash string) (s *slot, mine bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, false, ErrClosed
	}
	if s, ok := m.slots[hash]; ok {
		return s, false, nil
	}
	s = &slot{ready: make(chan struct{})}
	m.slots[hash] = s
	return s, true, nil
}

func (m *Manager) forget(hash string, s *slot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.slots[hash] == s {
		delete(m.slots, hash)
	}
}

// Close closes all workers side by side: what runs is stopped. When ctx ends
// before a stop is answered, the app-server is ended without it.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	slots := m.slots
	m.slots = map[string]*slot{}
	m.mu.Unlock()

	errs := make(chan error, len(slots))
	for _, s := range slots {
		go func() {
			<-s.ready
			if s.err != nil {
				errs <- nil
				return
			}
			errs <- s.worker.Close(ctx)
		}()
	}
	var all []error
	for range slots {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// open makes a worker: see [Manager.Worker].
func open(ctx context.Context, o Options, id Identity, thread string) (*Worker, error) {
	owned, records, err := own(o, id)
	if err != nil {
		return nil, err
	}
	w := &Worker{
		identity: id, opts: o, owned: owned, log: owned.log,
		requests: make(chan request), closing: make(chan struct{}), done: make(chan struct{}),
	}
	h, err := readHistory(records)
	if err == nil {
		w.kept = h.others
		err = w.connect(ctx, h)
	}
	if err != nil {
		owned.release()
		return nil, err
	}
	l := &loop{
		Worker: w, intents: h.intents,
		waiting: map[lifecycle.Ticket]chan<- answered{}, frames: map[codex.CallID]written{},
		timers: map[lifecycle.Timer]time.Time{}, ops: map[int]*Operation{},
	}
	if err := l.prepare(ctx, h, thread); err != nil {
		_ = w.client.Close()
		l.journalEnd()
		owned.release()
		return nil, err
	}
	l.publishStatus()
	go l.run()
	return w, nil
}

// connect starts the app-server once the last owner's is gone.
func (w *Worker) connect(ctx context.Context, h history) error {
	if err := waitGone(ctx, h.server, w.opts.PredecessorTimeout); err != nil {
		return err
	}
	w.owned.generation = h.owners + 1
	if err := appendRecord(w.log, recordOwner, ownerRecord{Identity: w.identity, Process: w.owned.note.Process}); err != nil {
		return err
	}
	o := w.opts.Codex
	o.Dir = w.identity.Key.Dir
	client, err := codex.Start(ctx, o)
	if err != nil {
		return err
	}
	w.client = client
	if err := appendRecord(w.log, recordServer, serverRecord{Process: client.Server().Process}); err != nil {
		_ = client.Close()
		return err
	}
	return nil
}

// prepare settles which thread the worker owns, decides open intents and reads
// the goal.
func (l *loop) prepare(ctx context.Context, h history, adopt string) error {
	stored := h.thread
	if adopt != "" {
		stored = adopt
	}
	if stored != "" {
		if err := l.owned.lockThread(stored); err != nil {
			return err
		}
		if err := l.recover(ctx, h); err != nil {
			return err
		}
	}
	goal, err := l.settleThread(ctx, stored, adopt != "")
	if err != nil {
		return err
	}
	l.wire = l.client.Subscribe(codex.SubscribeOptions{Thread: l.thread})
	if goal != nil && goal.Status == protocol.ThreadGoalStatusActive && l.opts.ResumePaused {
		if goal, err = l.pauseStored(ctx, goal); err != nil {
			return err
		}
	}
	l.state.Goal, l.state.GoalKnown = goal, true
	return nil
}

// settleThread keeps the stored thread if Codex still has it, and starts one
// otherwise.
func (l *loop) settleThread(ctx context.Context, stored string, must bool) (*protocol.ThreadGoal, error) {
	if stored != "" {
		goal, err := readGoal(ctx, l.client, stored)
		if err == nil {
			l.thread = stored
			return goal, l.noteThread(must)
		}
		if !isUnknownThread(err) || must {
			return nil, fmt.Errorf("thread %s: %w", stored, err)
		}
		l.opts.Logger.Info("Codex does not have the stored thread; starting a new one", "thread", stored)
	}
	thread, err := startThread(ctx, l.client, l.opts.Thread, l.identity.Key.Dir)
	if err != nil {
		return nil, err
	}
	l.thread, l.load = thread, loaded
	if err := l.owned.lockThread(thread); err != nil {
		return nil, err
	}
	return nil, l.noteThread(true)
}

func (l *loop) noteThread(changed bool) error {
	if !changed {
		return nil
	}
	return appendRecord(l.log, recordThread, threadRecord{Thread: l.thread})
}

func (l *loop) recover(ctx context.Context, h history) error {
	found, err := recoverIntents(ctx, l.client, h.thread, h.open)
	if err != nil {
		return err
	}
	for _, r := range found {
		if err := appendRecord(l.log, recordRecovered, recoveredRecord{Intent: r.Intent.ID, Verdict: r.Verdict, Goal: r.Goal}); err != nil {
			return err
		}
		l.opts.Logger.Warn("a mutation of the last owner had no outcome", "method", r.Intent.Method, "verdict", string(r.Verdict))
	}
	l.recovery = found
	return nil
}

// pauseStored pauses a goal before its thread is resumed. Works unloaded, and
// starts nothing.
func (l *loop) pauseStored(ctx context.Context, goal *protocol.ThreadGoal) (*protocol.ThreadGoal, error) {
	l.state.Goal, l.state.GoalKnown = goal, true
	f := lifecycle.Frame{Role: lifecycle.RoleStopPause}
	intent, err := l.journalIntent(f)
	if err != nil {
		return nil, err
	}
	r, err := codex.Call(ctx, l.client, protocol.ThreadGoalSetMethod, l.setParams(f))
	l.journalOutcome(intent, &codex.Reply{Method: protocol.ThreadGoalSetMethod.Name, Delivery: codex.DeliveryOf(err), Err: err, Result: &r})
	if err != nil {
		return nil, fmt.Errorf("pause the stored goal: %w", err)
	}
	return &r.Goal, nil
}
