package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/journal"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// Worker owns one native thread and the app-server it runs in.
type Worker struct {
	identity Identity
	opts     Options
	client   *codex.Client
	thread   string
	owned    *ownership
	log      *journal.Log
	recovery []Recovery
	left     []Leftover // of a dead owner: ended
	differs  []string   // see Differences
	history  *history   // of the log, which changes it

	requests chan request // to the loop
	closing  chan struct{}
	ended    func() // called once the worker has ended
	close    sync.Once
	done     chan struct{} // the loop has ended and everything is given back
	err      error         // why; set before done is closed

	status atomic.Pointer[Status]
	feed   feed
}

// request is one submission on its way to the loop.
type request struct {
	event  func(lifecycle.Ticket) lifecycle.Event
	answer chan<- answered // takes one answer without blocking
}

type answered struct {
	lifecycle.Answer
	op    *Operation
	ended []Leftover // of a stop
}

// Identity says whose worker it is.
func (w *Worker) Identity() Identity { return w.identity }

// Thread is the native thread's id.
func (w *Worker) Thread() string { return w.thread }

// Client is the connection to the app-server, for reads. Mutations of the
// worker's thread must go through the worker.
func (w *Worker) Client() *codex.Client { return w.client }

// Recovered lists what an earlier owner had written without learning its outcome,
// and what was found out. It is empty after an orderly end.
func (w *Worker) Recovered() []Recovery { return w.recovery }

// Orphans lists the processes that a dead owner's turns had left running. They were
// ended before the worker did anything else. It is empty after an orderly end.
func (w *Worker) Orphans() []Leftover { return w.left }

// Differences says, one setting each, what the thread will run with in another way
// than a new one here would, or than it did before. Nil is nothing.
func (w *Worker) Differences() []string { return w.differs }

// Done is closed when the worker has ended and its locks are given back.
func (w *Worker) Done() <-chan struct{} { return w.done }

// Err says why the worker ended: [ErrClosed] after Close or idleness, else
// [ErrDisconnected] with what ended the connection: an unknown delivery, a stop
// without an answer, the end of the app-server. It is nil while the worker lives.
func (w *Worker) Err() error {
	select {
	case <-w.done:
		return w.err
	default:
		return nil
	}
}

// Goal reads the goal from Codex. Nil is no goal; an error means that it could not
// be read, and says nothing about the goal.
func (w *Worker) Goal(ctx context.Context) (*protocol.ThreadGoal, error) {
	return readGoal(ctx, w.client, w.thread)
}

// Prompt starts a user turn on an idle thread and returns when Codex has accepted
// it. A thread that an operation owns is [ErrBusy]; one whose stored goal is active
// is [ErrGoalActive], because the prompt would set the goal going.
func (w *Worker) Prompt(ctx context.Context, text string) (*Operation, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	a, err := w.submit(ctx, func(t lifecycle.Ticket) lifecycle.Event {
		return lifecycle.Prompt{Ticket: t, Text: text}
	})
	if err != nil {
		return nil, err
	}
	return a.op, nil
}

// Steer adds text to the running turn. The model hears it with its next request. An
// unknown delivery is told to the caller and ends nothing.
func (w *Worker) Steer(ctx context.Context, text string) error {
	if err := checkText(text); err != nil {
		return err
	}
	_, err := w.submit(ctx, func(t lifecycle.Ticket) lifecycle.Event {
		return lifecycle.Steer{Ticket: t, Text: text}
	})
	return err
}

// Stop makes sure that nothing runs: the goal is paused and the running turn
// interrupted, then the turns of sub-agents, and the commands that they all have left
// in the background are ended; [Outcome.Ended] lists those. It returns when that is so; a goal that completed meanwhile stays
// complete. The outcome has no End when nothing ran; [Outcome.AtRest] says whether
// the goal is known not to be active.
//
// If Codex does not answer in time its app-server is ended, which ends the turn. A
// fresh one then reads the goal back, pauses it if it is active, and the error is a
// [*StopError]: it says what the goal is now, and matches [ErrStopUnknown] if that is
// not known or it is active still.
func (w *Worker) Stop(ctx context.Context) (Outcome, error) {
	return w.stop(ctx, false)
}

func (w *Worker) stop(ctx context.Context, final bool) (Outcome, error) {
	a, err := w.submit(ctx, func(t lifecycle.Ticket) lifecycle.Event {
		return lifecycle.StopAsked{Ticket: t, Final: final}
	})
	if a.op != nil {
		return a.op.outcomeNow(), err
	}
	return Outcome{Goal: a.Goal, GoalKnown: a.GoalKnown, Ended: a.ended}, err
}

// submit hands an event to the loop and waits for its answer.
func (w *Worker) submit(ctx context.Context, event func(lifecycle.Ticket) lifecycle.Event) (answered, error) {
	if ctx.Err() != nil {
		return answered{}, fmt.Errorf("not sent: %w", context.Cause(ctx))
	}
	answer := make(chan answered, 1)
	select {
	case w.requests <- request{event: event, answer: answer}:
	case <-w.done:
		return answered{}, w.over()
	case <-ctx.Done():
		return answered{}, fmt.Errorf("not sent: %w", context.Cause(ctx))
	}
	select {
	case a := <-answer:
		return a, a.Err
	case <-ctx.Done():
		return answered{}, fmt.Errorf("stopped waiting, what was submitted takes its course: %w", context.Cause(ctx))
	}
}

// over is what a submission is told once the worker has ended. The cause is told in
// words only: what it says of a delivery is another submission's.
func (w *Worker) over() error {
	if errors.Is(w.err, ErrDisconnected) {
		return &endedError{w.err}
	}
	return w.err
}

// Close ends the worker: it takes no submission any more, what runs is stopped, the
// app-server is given its time to end, the locks are given back. The error says that
// the stop was not answered, or that ctx ended first: the worker then closes without
// an answer, and [Worker.Done] tells when it has. Closing one that has ended is
// harmless, and nil.
func (w *Worker) Close(ctx context.Context) error {
	_, err := w.stop(ctx, true)
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrDisconnected) {
		err = nil // it had ended before
	}
	w.close.Do(func() { close(w.closing) })
	select {
	case <-w.done:
		return err
	case <-ctx.Done():
		return cmp.Or(err, fmt.Errorf("the worker is still closing: %w", context.Cause(ctx)))
	}
}
