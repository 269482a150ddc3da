package worker

import (
	"context"

	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// GoalSpec is what a goal is to be, and for whom.
type GoalSpec struct {
	Objective string              // "" keeps the objective, where there may be one already
	Budget    protocol.Opt[int64] // tokens for the goal in all; absent keeps, null removes
	// For is the operation the caller saw owning the thread. If it has ended by
	// the time the change could be written, nothing is sent: [ErrOwnerFinished].
	// Nil is whatever owns the thread as the change is taken in.
	For *Operation
}

// Change is an acknowledged change of the goal.
type Change struct {
	// Operation is the one that pursues the goal; nil when none runs.
	Operation *Operation
	Goal      *protocol.ThreadGoal // as Codex answered; nil is no goal
	Note      Note
}

// SetGoal starts a goal on an idle thread, or replaces the objective of the
// operation that runs. It returns when Codex has acknowledged it. On an idle
// thread a complete goal is cleared first, because 0.160.1 would carry its
// counters over to the new one.
//
// Where another client of Codex has the thread, nothing is written, here and with
// every other change and prompt on an idle thread: [ErrThreadHeld]. A thread that is
// stored only is loaded before the goal is written; if Codex refuses that, the goal
// stays as it was.
//
// The change is meant for the operation that owns the thread now, or for the one
// that spec names. If that one ends before the change can be written, nothing is
// sent: [ErrOwnerFinished].
func (w *Worker) SetGoal(ctx context.Context, spec GoalSpec) (Change, error) {
	objective, err := TrimObjective(spec.Objective)
	if err != nil {
		return Change{}, err
	}
	return w.changeTo(ctx, lifecycle.ChangeSet, objective, spec)
}

// EditGoal changes the objective, and the budget if one is given, and keeps the
// goal's status: a goal that is not active stays so. Both change together or not at
// all. Like [Worker.SetGoal] it is meant for one operation.
func (w *Worker) EditGoal(ctx context.Context, spec GoalSpec) (Change, error) {
	objective, err := TrimObjective(spec.Objective)
	if err != nil {
		return Change{}, err
	}
	return w.changeTo(ctx, lifecycle.ChangeEdit, objective, spec)
}

// ResumeGoal makes the goal active again, with another objective or budget if one
// is given: all of it or nothing. Like [Worker.SetGoal] it is meant for one
// operation.
func (w *Worker) ResumeGoal(ctx context.Context, spec GoalSpec) (Change, error) {
	objective := ""
	if spec.Objective != "" {
		var err error
		if objective, err = TrimObjective(spec.Objective); err != nil {
			return Change{}, err
		}
	}
	return w.changeTo(ctx, lifecycle.ChangeResume, objective, spec)
}

func (w *Worker) changeTo(ctx context.Context, kind lifecycle.ChangeKind, objective string, spec GoalSpec) (Change, error) {
	if err := checkBudget(spec.Budget.Get()); err != nil {
		return Change{}, err
	}
	return w.change(ctx, lifecycle.Change{Kind: kind, Objective: objective, Budget: spec.Budget}, spec.For)
}

// SetBudget changes how many tokens may be spent on the goal in all. Null removes
// the budget. A goal that its budget has stopped stays stopped: resume it.
func (w *Worker) SetBudget(ctx context.Context, tokens protocol.Opt[int64]) (Change, error) {
	if err := checkBudget(tokens.Get()); err != nil {
		return Change{}, err
	}
	return w.change(ctx, lifecycle.Change{Kind: lifecycle.ChangeBudget, Budget: tokens}, nil)
}

// PauseSpec says how a goal is paused. The zero value is the careful way.
type PauseSpec struct {
	// Force pauses the goal even where another client of Codex has the thread. That
	// client is told nothing: its running turn goes on to its end, and none follows.
	Force bool
}

// PauseGoal pauses the goal. The running turn goes on to its end, and the
// operation ends with it; use Stop to end both now.
func (w *Worker) PauseGoal(ctx context.Context, spec PauseSpec) (Change, error) {
	return w.change(ctx, lifecycle.Change{Kind: lifecycle.ChangePause, Force: spec.Force}, nil)
}

// ClearGoal removes the goal. The running turn goes on to its end.
func (w *Worker) ClearGoal(ctx context.Context) (Change, error) {
	return w.change(ctx, lifecycle.Change{Kind: lifecycle.ChangeClear}, nil)
}

// change submits a change for the operation the caller saw. Whether that one still
// owns the thread is for the core to say, and for nobody else.
func (w *Worker) change(ctx context.Context, c lifecycle.Change, seen *Operation) (Change, error) {
	owner := w.Status().owner
	if seen != nil {
		owner = seen.numberIn(w)
	}
	a, err := w.submit(ctx, func(t lifecycle.Ticket) lifecycle.Event {
		return lifecycle.Submit{Ticket: t, Change: c, Owner: owner}
	})
	if err != nil {
		return Change{Operation: a.op, Goal: a.Goal}, err
	}
	return Change{Operation: a.op, Goal: a.Goal, Note: noteOf(a.Answer)}, nil
}
