package worker

import (
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// Status is a picture of a worker at one moment.
type Status struct {
	Thread    string
	Loaded    bool                 // the thread is loaded: turns can run
	Goal      *protocol.ThreadGoal // as last known; nil is no goal, if GoalKnown
	GoalKnown bool                 // false: the goal could not be read
	Turn      string               // id of the active turn; "" none
	LastTurn  *TurnResult          // the turn that ended last; nil is none in this worker's life
	Operation *Operation           // the owner of the thread; nil when idle
	Pending   bool                 // a goal change is on the wire or waits
	Stopping  bool
	// Running is what went on when the last operation had ended by itself: turns of
	// sub-agents, and commands in the background. Only Stop and Close end it.
	Running []Leftover
	// Settings are in force from the next turn on; zero before the thread is loaded.
	Settings Settings

	ending bool // the worker is about to end
	owner  int  // the operation's number in the core; 0 when idle
}

// Status returns the picture after the last event.
func (w *Worker) Status() Status { return *w.status.Load() }

// Note says what a caller should know beside an acknowledgement; "" nothing.
type Note string

func noteOf(a lifecycle.Answer) Note {
	switch a.Note {
	case lifecycle.NoteNotStarted:
		return notStarted(a.Goal)
	case lifecycle.NoteUnreadable:
		return "Codex acknowledged it, but what the goal is now could not be read; ask for it again"
	case lifecycle.NoteCompleted:
		return "the goal was complete before the pause arrived; it was left complete"
	case lifecycle.NoteHeld:
		return "another client of Codex has the thread: the turn it runs goes on to its end, and none follows"
	}
	return ""
}

func notStarted(goal *protocol.ThreadGoal) Note {
	const said = "Codex acknowledged the change, but no work started: "
	if goal == nil {
		return said + "there is no goal"
	}
	switch goal.Status {
	case protocol.ThreadGoalStatusBudgetLimited:
		return said + "the goal's token budget is used up; raise or remove the budget and resume"
	case protocol.ThreadGoalStatusUsageLimited:
		return said + "the account's usage limit is reached; resume when it has been renewed"
	}
	return said + "the goal is " + Note(goal.Status) + "; resume it"
}
