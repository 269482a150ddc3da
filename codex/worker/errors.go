package worker

import (
	"errors"
	"fmt"
	"os"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// Why something submitted to a worker was not sent, or did not start. Errors of
// the wire are [*codex.RPCError] and [*codex.DeliveryError].
var (
	ErrOwnerFinished = lifecycle.ErrOwnerFinished
	ErrBusy          = lifecycle.ErrBusy
	ErrStopped       = lifecycle.ErrStopped
	ErrNoTurn        = lifecycle.ErrNoTurn
	ErrComplete      = lifecycle.ErrComplete
	ErrNoGoal        = lifecycle.ErrNoGoal
	ErrGoalActive    = lifecycle.ErrGoalActive
	ErrThreadHeld    = lifecycle.ErrThreadHeld
	ErrUnread        = lifecycle.ErrUnread
	ErrOnlyCleared   = lifecycle.ErrOnlyCleared
	ErrOnlyPaused    = lifecycle.ErrOnlyPaused
	ErrClosing       = lifecycle.ErrClosing
	ErrDisconnected  = lifecycle.ErrDisconnected

	// Why a stop ended the app-server.
	ErrStopTimeout = lifecycle.ErrStopTimeout
	ErrStillActive = lifecycle.ErrStillActive
	// ErrStopUnknown is in a [*StopError] when the goal may still be active.
	ErrStopUnknown = lifecycle.ErrStopUnknown

	// ErrClosed says that the worker was closed, by its manager or for idleness.
	ErrClosed = errors.New("the worker is closed; ask the manager for it again")
	// ErrOwned is what an [*OwnedError] is.
	ErrOwned = errors.New("owned by somebody else")
	// ErrPredecessorAlive says that an app-server of a dead owner still runs: a
	// change in its pipe may yet land, so nothing can be decided.
	ErrPredecessorAlive = errors.New("the app-server of the last owner still runs")
)

// StopError is what a stop is told whose app-server ended before it had answered.
type StopError = lifecycle.StopError

// OwnedError says which process owns the key or the native thread.
type OwnedError struct {
	What   string          // what is owned
	Owner  codex.ProcessID // zero when the owner is just starting
	Socket string          // its control socket; "" none
}

func (e *OwnedError) Error() string {
	switch {
	case e.Owner.PID == 0:
		return fmt.Sprintf("%s is owned by a process that is just starting; try again in a moment", e.What)
	case e.Owner.PID == os.Getpid():
		return fmt.Sprintf("%s is owned by this process already, by another manager or under another key; use that worker, or close it", e.What)
	case e.Socket == "":
		return fmt.Sprintf("%s is owned by process %d; end it first", e.What, e.Owner.PID)
	default:
		return fmt.Sprintf("%s is owned by process %d; drive it through its socket %s, or end it", e.What, e.Owner.PID, e.Socket)
	}
}

// Is makes errors.Is(err, ErrOwned) true.
func (e *OwnedError) Is(target error) bool { return target == ErrOwned }

// endedError is [ErrDisconnected] with the reason in words.
type endedError struct{ why error }

func (e *endedError) Error() string { return e.why.Error() }

// Is makes errors.Is(err, ErrDisconnected) true.
func (e *endedError) Is(target error) bool { return target == ErrDisconnected }
