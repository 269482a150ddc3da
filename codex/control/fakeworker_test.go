package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/codexctl/codexctl/codex/journal"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// fakeWorker records calls. Each waits for a turn on gate, if there is one.
type fakeWorker struct {
	gate  chan struct{}
	err   error
	found []worker.Recovery
	over  chan struct{} // closed: the worker has ended
	slow  error         // what the subscriptions end with instead

	subs []chan worker.Event // under mu

	mu    sync.Mutex
	calls []string
	meant []*worker.Operation // whom each set, edit and resume was for
	goal  *protocol.ThreadGoal
	op    *worker.Operation
}

func newFakeWorker() *fakeWorker { return &fakeWorker{over: make(chan struct{})} }

func (f *fakeWorker) call(ctx context.Context, format string, args ...any) error {
	f.mu.Lock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
	f.mu.Unlock()
	if f.gate == nil {
		return f.err
	}
	select {
	case <-f.gate:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fakeWorker) changeFor(ctx context.Context, op *worker.Operation, format string, args ...any) (worker.Change, error) {
	f.mu.Lock()
	f.meant = append(f.meant, op)
	f.mu.Unlock()
	return f.change(ctx, format, args...)
}

func (f *fakeWorker) change(ctx context.Context, format string, args ...any) (worker.Change, error) {
	err := f.call(ctx, format, args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	return worker.Change{Goal: f.goal}, err
}

func (f *fakeWorker) Identity() worker.Identity {
	return worker.Identity{Key: worker.Key{Project: "p", Session: "s", Dir: "/d"}}
}
func (f *fakeWorker) Thread() string               { return "thread-1" }
func (f *fakeWorker) Recovered() []worker.Recovery { return f.found }

func (f *fakeWorker) subscribe() events {
	events := make(chan worker.Event, 64)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs = append(f.subs, events)
	return fakeEvents{f, events}
}

// tell has every subscriber hear of events.
func (f *fakeWorker) tell(events ...worker.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		for _, sub := range f.subs {
			sub <- e
		}
	}
}

func (f *fakeWorker) Status() worker.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return worker.Status{Thread: "thread-1", Operation: f.op}
}

func (f *fakeWorker) Goal(ctx context.Context) (*protocol.ThreadGoal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.goal, f.err
}

func (f *fakeWorker) SetGoal(ctx context.Context, s worker.GoalSpec) (worker.Change, error) {
	return f.changeFor(ctx, s.For, "set %s", s.Objective)
}

func budgetOf(s worker.GoalSpec) string {
	if n, ok := s.Budget.Get(); ok {
		return fmt.Sprintf(" budget %d", n)
	}
	return ""
}

func (f *fakeWorker) EditGoal(ctx context.Context, s worker.GoalSpec) (worker.Change, error) {
	return f.changeFor(ctx, s.For, "edit %s%s", s.Objective, budgetOf(s))
}

func (f *fakeWorker) SetBudget(ctx context.Context, tokens protocol.Opt[int64]) (worker.Change, error) {
	return f.change(ctx, "budget %d", tokens.Or(-1))
}

func (f *fakeWorker) PauseGoal(ctx context.Context, s worker.PauseSpec) (worker.Change, error) {
	if s.Force {
		return f.change(ctx, "pause by force")
	}
	return f.change(ctx, "pause")
}

func (f *fakeWorker) ResumeGoal(ctx context.Context, s worker.GoalSpec) (worker.Change, error) {
	return f.changeFor(ctx, s.For, "resume%s", budgetOf(s))
}

func (f *fakeWorker) ClearGoal(ctx context.Context) (worker.Change, error) {
	return f.change(ctx, "clear")
}

func (f *fakeWorker) Prompt(ctx context.Context, text string) (*worker.Operation, error) {
	return nil, errors.Join(f.call(ctx, "prompt %s", text), worker.ErrBusy)
}

func (f *fakeWorker) Steer(ctx context.Context, text string) error {
	return f.call(ctx, "steer %s", text)
}

func (f *fakeWorker) Stop(ctx context.Context) (worker.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "stop")
	return worker.Outcome{End: worker.EndStopped, Goal: f.goal}, f.err
}

type fakeEvents struct {
	of     *fakeWorker
	events chan worker.Event
}

func (f fakeEvents) Next(ctx context.Context) (worker.Event, error) {
	select {
	case e := <-f.events:
		return e, nil
	default:
	}
	select {
	case e := <-f.events:
		return e, nil
	case <-f.of.over:
		if f.of.slow != nil {
			return worker.Event{}, f.of.slow
		}
		return worker.Event{}, worker.ErrClosed
	case <-ctx.Done():
		return worker.Event{}, ctx.Err()
	}
}

func (fakeEvents) Close() {}

// memoryLog keeps records for a later controller.
type memoryLog struct {
	mu      sync.Mutex
	records []journal.Record
	state   journal.State
	err     error
}

func (m *memoryLog) Records() []journal.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.records)
}

func (m *memoryLog) Fold(state journal.State) error {
	m.state = state
	for _, r := range m.Records() {
		if err := state.Apply(r); err != nil {
			return err
		}
	}
	return nil
}

func (m *memoryLog) Append(r journal.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	m.records = append(m.records, r)
	return m.state.Apply(r)
}
