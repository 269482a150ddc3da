package lifecycle

import (
	"errors"

	"github.com/codexctl/codexctl/codex/protocol"
)

// What a submission is told when nothing of it was written.
var (
	ErrOwnerFinished = errors.New("the operation it was meant for has finished; submit it again to start anew")
	ErrBusy          = errors.New("another operation owns the thread; wait for it, steer it or stop it")
	ErrStopped       = errors.New("not sent, because the operation was stopped; submit it again to start anew")
	ErrNoTurn        = errors.New("no turn is running to steer; send a prompt instead")
	ErrComplete      = errors.New("the goal is complete: there is nothing to pause")
	ErrNoGoal        = errors.New("there is no goal to edit; set one")
	ErrGoalActive    = errors.New("the stored goal is active and would go on with the prompt; pause, resume or replace it first")
	ErrThreadHeld    = errors.New("another client of Codex has the thread")
	ErrUnread        = errors.New("not sent, because the goal could not be read first")
	ErrClosing       = errors.New("not sent, because the worker is being closed")
	ErrDisconnected  = errors.New("the connection to Codex is over; open the worker again")
)

// ErrOnlyCleared says that a complete goal was cleared for a new one, and the new
// one was not set.
var ErrOnlyCleared = errors.New("the complete goal was cleared, but the new one was not set")

// ErrOnlyPaused says that a stored active goal was paused for a new one, because
// loading its thread would have started it, and the new one was not set.
var ErrOnlyPaused = errors.New("the stored goal was paused for the new one, which was not set; resume it to go on with it")

// Why a stop ended the app-server.
var (
	ErrStopTimeout = errors.New("codex did not answer the stop in time; its app-server was ended")
	ErrStillActive = errors.New("the goal stayed active although it was paused; the app-server was ended")
)

// End is how an operation ended.
type End string

const (
	EndDone          End = "done"          // a prompt's turn completed
	EndFailed        End = "failed"        // a turn failed, or the start was refused
	EndInterrupted   End = "interrupted"   // a turn was interrupted by someone else
	EndComplete      End = "complete"      // the goal is complete
	EndBlocked       End = "blocked"       // the goal is blocked
	EndUsageLimited  End = "usageLimited"  // the account's usage limit was reached
	EndBudgetLimited End = "budgetLimited" // the goal's token budget was reached
	EndPaused        End = "paused"        // the goal was paused and its turn has ended
	EndCleared       End = "cleared"       // the goal was cleared and its turn has ended
	EndStopped       End = "stopped"       // stopped on request
	EndStalled       End = "stalled"       // the goal was active but no turn ran; it was paused
	EndDisconnected  End = "disconnected"  // the connection was lost, or a delivery became unknown
)

// Outcome is how an operation ended and what it left.
type Outcome struct {
	End  End
	Goal *protocol.ThreadGoal // nil is none, or never known
	// GoalKnown says that Goal is what Codex has stored, as it acknowledged,
	// announced or gave it on asking. Without it Goal is only what was known last.
	GoalKnown bool
	Turn      *LastTurn // the last turn that ended; nil is none
	Err       error     // why, for failed starts and disconnections
}

// outcome derives how op ended from what is known, without a stop or a loss.
func outcome(s *State) Outcome {
	op := s.Op
	out := Outcome{Goal: s.Goal, GoalKnown: s.GoalKnown, Turn: op.Last, Err: op.Err}
	if op.Fresh {
		out.End = EndFailed
		return out
	}
	if op.Kind == KindPrompt {
		out.End = turnEnd(op.Last)
		return out
	}
	switch {
	case op.Stalled:
		out.End = EndStalled
	case s.Goal == nil:
		out.End = EndCleared
	default:
		out.End = goalEnd(s.Goal.Status)
	}
	return out
}

func turnEnd(last *LastTurn) End {
	switch {
	case last == nil || last.Status == protocol.TurnStatusInterrupted:
		return EndInterrupted
	case last.Status == protocol.TurnStatusFailed:
		return EndFailed
	default:
		return EndDone
	}
}

func goalEnd(status protocol.ThreadGoalStatus) End {
	switch status {
	case protocol.ThreadGoalStatusComplete:
		return EndComplete
	case protocol.ThreadGoalStatusBlocked:
		return EndBlocked
	case protocol.ThreadGoalStatusUsageLimited:
		return EndUsageLimited
	case protocol.ThreadGoalStatusBudgetLimited:
		return EndBudgetLimited
	default: // paused, and any status a newer Codex adds: it is not active
		return EndPaused
	}
}
