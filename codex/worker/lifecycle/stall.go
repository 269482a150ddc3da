package lifecycle

import "github.com/codexctl/codexctl/codex/protocol"

// An active goal without a turn is normal for some milliseconds between two
// turns. For longer it means that the loop was broken from outside: another
// client's bare interrupt leaves the goal active and starts nothing, and in plan
// mode Codex does not continue a goal.

// watch keeps the time an active goal runs no turn.
func (m *machine) watch() {
	if m.Stall == StallNone {
		m.Stall = StallWaiting
		m.emit(SetTimer{TimerStall})
	}
}

// calm ends the search: a turn runs, or the operation is over.
func (m *machine) calm() {
	if m.Stall == StallWaiting {
		m.emit(StopTimer{TimerStall})
	}
	m.Stall = StallNone
}

func (m *machine) stallFired() {
	if m.Stall != StallWaiting {
		return
	}
	m.Stall = StallNone
	if m.Lane == nil && m.Stop == nil && m.Op != nil && m.Turn.Phase == TurnNone && m.goalActive() {
		m.Stall = StallReading
		m.call(Submission{}, RoleStallLook)
	}
}

func (m *machine) stallReplied(call Call, r Reply) {
	role := call.Role
	ok := r.Delivery == Acknowledged && !r.Drift
	if ok {
		m.know(r.Goal)
	}
	still := m.Stall != StallNone // no turn started meanwhile
	m.Stall = StallNone
	switch {
	case role == RoleStallStop && m.undo(call, r.Goal):
	case role == RoleStallStop:
		// A turn that started behind the pause runs to its end; the operation
		// then ends stalled all the same, for its goal is paused.
		m.Op.Stalled = ok && m.Goal != nil && m.Goal.Status == protocol.ThreadGoalStatusPaused
	case still && ok && m.goalActive():
		m.Stall = StallPausing
		m.call(Submission{Change: Change{Kind: ChangePause}}, RoleStallStop)
	}
}
