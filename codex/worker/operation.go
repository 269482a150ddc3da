package worker

import (
	"context"
	"fmt"
	"sync"

	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// Kind is what an operation is for.
type Kind = lifecycle.Kind

// Kinds of operations. A prompt's becomes a goal's when a goal is active at its
// end, or one was set meanwhile.
const (
	KindGoal   = lifecycle.KindGoal
	KindPrompt = lifecycle.KindPrompt
)

// End is how an operation ended.
type End = lifecycle.End

// How an operation can end.
const (
	EndDone          = lifecycle.EndDone
	EndFailed        = lifecycle.EndFailed
	EndInterrupted   = lifecycle.EndInterrupted
	EndComplete      = lifecycle.EndComplete
	EndBlocked       = lifecycle.EndBlocked
	EndUsageLimited  = lifecycle.EndUsageLimited
	EndBudgetLimited = lifecycle.EndBudgetLimited
	EndPaused        = lifecycle.EndPaused
	EndCleared       = lifecycle.EndCleared
	EndStopped       = lifecycle.EndStopped
	EndStalled       = lifecycle.EndStalled
	EndDisconnected  = lifecycle.EndDisconnected
)

// Operation is the exclusive owner of the thread, from its start to its end.
type Operation struct {
	id      string
	worker  *Worker // whose core knows it
	number  int     // by which
	adopted bool

	done     chan struct{} // closed when outcome is set
	turnDone chan struct{} // closed when turn is set

	mu      sync.Mutex
	kind    Kind
	outcome Outcome
	turn    TurnResult
	first   bool // turn is set
}

// Outcome is how an operation ended and what it left.
type Outcome struct {
	End  End
	Goal *protocol.ThreadGoal // the goal as last known; nil is none
	// GoalKnown says that Goal is what Codex has stored, as it acknowledged,
	// announced or gave it on asking. Without it Goal is only what was known last,
	// and the stored goal may be active.
	GoalKnown bool
	Turn      *TurnResult // the last turn that ended; nil is none
	// Ended is what a stop has ended beside the thread's own turn.
	Ended []Leftover
	// Err says why, for starts that failed and connections that were lost.
	Err error
}

// AtRest reports whether the goal is known not to be active: nothing goes on by
// itself when the thread is resumed. Only then may an operation be called stopped or
// paused.
func (o Outcome) AtRest() bool {
	return o.GoalKnown && (o.Goal == nil || o.Goal.Status != protocol.ThreadGoalStatusActive)
}

// TurnResult is how one turn ended.
type TurnResult struct {
	ID     string
	Status protocol.TurnStatus
	Answer string              // see [Answer]; "" none
	Error  *protocol.TurnError // the native error of a failed turn
	// OnlyCommentary says that there is no answer, although the model spoke on its way.
	OnlyCommentary bool
}

func newOperation(w *Worker, began lifecycle.Began) *Operation {
	return &Operation{
		id: fmt.Sprintf("op-%d.%d", w.owned.generation, began.Op), worker: w, number: began.Op,
		kind: began.Kind, adopted: began.Adopted, done: make(chan struct{}), turnDone: make(chan struct{}),
	}
}

// numberIn is the operation's number in w's core. One of another worker is none
// that w can ever run.
func (o *Operation) numberIn(w *Worker) int {
	if o.worker != w {
		return -1
	}
	return o.number
}

// ID names the operation among all of its identity.
func (o *Operation) ID() string { return o.id }

// Kind is what the operation is for now.
func (o *Operation) Kind() Kind {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kind
}

// Adopted reports whether Codex started the operation's first turn by itself.
func (o *Operation) Adopted() bool { return o.adopted }

// Done is closed when the operation has ended.
func (o *Operation) Done() <-chan struct{} { return o.done }

// Wait waits for the end. It returns ctx's error if that comes first; the
// operation goes on then.
func (o *Operation) Wait(ctx context.Context) (Outcome, error) {
	select {
	case <-o.done:
		return o.outcomeNow(), nil
	case <-ctx.Done():
		return Outcome{}, context.Cause(ctx)
	}
}

// WaitTurn waits for the end of the operation's first turn, which is a prompt's
// answer even when a goal has adopted the operation and goes on. An operation
// that ends without a turn ends the wait with a zero result.
func (o *Operation) WaitTurn(ctx context.Context) (TurnResult, error) {
	select {
	case <-o.turnDone:
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.turn, nil
	case <-ctx.Done():
		return TurnResult{}, context.Cause(ctx)
	}
}

func (o *Operation) outcomeNow() Outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.outcome
}

func (o *Operation) become(kind Kind) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kind = kind
}

func (o *Operation) turnEnded(t TurnResult) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.first {
		o.first, o.turn = true, t
		close(o.turnDone)
	}
}

func (o *Operation) end(out Outcome) {
	o.turnEnded(TurnResult{})
	o.mu.Lock()
	o.outcome = out
	o.mu.Unlock()
	close(o.done)
}
