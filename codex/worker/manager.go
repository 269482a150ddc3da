package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Manager makes workers on first use and keeps them until they end.
type Manager struct {
	opts    Options
	opening context.Context // ends the making of workers
	cancel  context.CancelFunc

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
	m := &Manager{opts: o, slots: map[string]*slot{}}
	m.opening, m.cancel = context.WithCancel(context.Background())
	return m, nil
}

// Worker returns the key's worker, and starts it first if need be: it takes the
// key, waits for the app-server of a dead owner to end, starts an app-server,
// finds out what became of mutations left open, and starts a thread if the key has
// none. A stored thread is loaded only when something is to run on it; one that
// Codex does not have any more is replaced by a new one.
//
// ctx ends the caller's wait, not the start, which others may wait for too.
//
// Errors: [*OwnedError], [ErrPredecessorAlive], those of [codex.Start].
func (m *Manager) Worker(ctx context.Context, key Key) (*Worker, error) {
	return m.worker(ctx, key, "")
}

// Adopt is Worker on an existing native thread, which is the key's from then on.
// If the key has a running worker on another thread, the error says so.
func (m *Manager) Adopt(ctx context.Context, key Key, thread string) (*Worker, error) {
	if err := checkThreadID(thread); err != nil {
		return nil, err
	}
	w, err := m.worker(ctx, key, thread)
	if err == nil && w.thread != thread {
		return nil, fmt.Errorf("the worker runs thread %s; close it before it can adopt %s", w.thread, thread)
	}
	return w, err
}

func (m *Manager) worker(ctx context.Context, key Key, thread string) (*Worker, error) {
	identify := Identify
	if m.opts.WithoutDir {
		identify = IdentifyStored
	}
	id, err := identify(key, m.opts.Codex.Env)
	if err != nil {
		return nil, err
	}
	for {
		s, err := m.slotOf(id, thread)
		if err != nil {
			return nil, err
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if s.err != nil {
			return nil, s.err
		}
		if !s.worker.Status().ending {
			return s.worker, nil
		}
		select {
		case <-s.worker.done: // it gives its locks back before that
			m.forget(id.Hash(), s)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// slotOf returns the identity's slot; an empty one begins to be filled.
func (m *Manager) slotOf(id Identity, thread string) (*slot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	hash := id.Hash()
	if s, ok := m.slots[hash]; ok {
		return s, nil
	}
	s := &slot{ready: make(chan struct{})}
	m.slots[hash] = s
	go func() {
		s.worker, s.err = open(m.opening, m.opts, id, thread, func() { m.forget(hash, s) })
		if s.err != nil && m.opening.Err() != nil {
			s.err = fmt.Errorf("%w; its start was given up: %v", ErrClosed, s.err)
		}
		if s.err != nil {
			m.forget(hash, s)
		}
		close(s.ready)
	}()
	return s, nil
}

func (m *Manager) forget(hash string, s *slot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.slots[hash] == s {
		delete(m.slots, hash)
	}
}

// close closes the worker, once its start is over: it is being given up.
func (s *slot) close(ctx context.Context) error {
	over := func() error {
		<-s.ready
		if s.err != nil {
			return nil
		}
		return s.worker.Close(ctx)
	}
	select {
	case <-s.ready:
		return over()
	default:
	}
	closed := make(chan error, 1)
	go func() { closed <- over() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("a worker whose start was given up is still closing: %w", context.Cause(ctx))
	}
}

// Close closes all workers side by side: what runs is stopped, what is just being
// started is given up. It keeps to ctx: when that ends first the app-servers are ended
// without an answer to their stops, in the background, and the error says so.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	slots := m.slots
	m.slots = map[string]*slot{}
	m.mu.Unlock()
	m.cancel()

	errs := make(chan error, len(slots))
	for _, s := range slots {
		go func() {
			errs <- s.close(ctx)
		}()
	}
	var all []error
	for range slots {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}
