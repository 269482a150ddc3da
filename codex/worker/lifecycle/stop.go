package lifecycle

import (
	"cmp"

	"github.com/codexctl/codexctl/codex/protocol"
)

// askStop begins a stop, or joins the one under way.
func (m *machine) askStop(e StopAsked) {
	m.Closing = m.Closing || e.Final
	if e.Final && m.Stop == nil && m.Op == nil && m.Lane == nil && m.Load == LoadNone {
		// Nothing runs, and the stored goal was not this worker's doing: it stays.
		m.emit(Answer{Ticket: e.Ticket, Goal: m.Goal, GoalKnown: m.GoalKnown})
		return
	}
	if m.Stop != nil {
		m.Stop.Tickets = append(m.Stop.Tickets, e.Ticket)
		return
	}
	if m.Lane != nil && m.Lane.Role == RoleLoad {
		// It waits for the thread, which can take long: nothing of it was written.
		m.abandon(*m.Lane)
		m.Lane = nil
	}
	m.Stop = &Stop{Tickets: []Ticket{e.Ticket}, MayFollow: m.goalActive() || m.Lane != nil}
	if e.Final && m.Op == nil {
		m.Stop.Rest = RestDone // the app-server's own end sees to it
	}
	m.calm()
	for _, w := range m.Waiting {
		m.emit(Answer{Ticket: w.Ticket, Op: m.owner(), Err: ErrStopped})
	}
	m.Waiting = nil
	if m.Lane != nil {
		m.Lane.Abandoned = true
	}
	if m.goalMayBeActive() {
		m.stopPause()
	}
}

// goalMayBeActive reports whether the goal is active now, or will be once the
// change on the wire is answered.
func (m *machine) goalMayBeActive() bool {
	if m.Lane == nil {
		return m.goalActive()
	}
	switch m.Lane.Role {
	case RoleSet, RoleConfirm:
		return m.Lane.Change.owns() || m.Lane.Change.Kind != ChangePause && m.goalActive()
	case RoleDecide, RoleStallLook:
		return m.goalActive()
	}
	return false // a clear, a pause or a look: its reply is waited for
}

// stopPause writes the stop's pause, behind whatever is pending: 0.160.1 answers
// goal changes in the order they were written.
func (m *machine) stopPause() {
	m.Stop.Paused, m.Stop.MayFollow = true, true
	m.stopWrite(RoleStopPause)
}

func (m *machine) stopWrite(role Role) {
	m.Stop.OnWire = role
	m.waitFor(StopOnGoal)
	m.emit(Write{Frame{Role: role}})
}

// advanceStop does what a stop needs next: the goal paused, then the turn
// interrupted that is active or becomes active within the grace time.
func (m *machine) advanceStop() {
	stop := m.Stop
	switch {
	case stop.OnWire != 0:
		m.waitFor(StopOnGoal)
	case m.Lane != nil:
		m.waitFor(StopOnPending)
	case m.goalActive() && !stop.Paused:
		m.stopPause()
	case stop.Look || m.goalActive():
		// Announced active behind the pause: old news, or somebody resumed it.
		stop.Look = false
		m.stopWrite(RoleStopLook)
	case m.Turn.Phase == TurnRunning:
		m.interrupt()
	case m.Start != 0 || m.Turn.Phase == TurnStarting:
		// Before turn/started an interrupt is refused: "no active turn to interrupt".
		m.waitFor(StopOnStart)
	case stop.MayFollow && !stop.GraceOver && !m.wasInterrupted():
		// 0.160.1 was seen to start a turn just after it acknowledged a pause.
		m.waitFor(StopOnFollower)
	case m.Load != LoadNone && stop.Rest != RestDone:
		m.endRest()
	default:
		m.endStop()
	}
}

// endRest has ended what the turns have left behind: an interrupt of 0.160.1 ends
// neither a sub-agent's turn nor a command that runs in the background.
func (m *machine) endRest() {
	m.waitFor(StopOnRest)
	if m.Stop.Rest == RestDue {
		m.Stop.Rest = RestEnding
		m.emit(EndRest{})
	}
}

func (m *machine) restEnded() {
	if m.Stop == nil {
		return
	}
	switch m.Stop.Rest {
	case RestEnding:
		m.Stop.Rest = RestDone
	case RestStale:
		m.Stop.Rest = RestDue
	}
}

// waitFor bounds the wait for a step, once.
func (m *machine) waitFor(step StopStep) {
	if m.Stop.Step == step {
		return
	}
	m.stopWaiting()
	m.Stop.Step = step
	m.emit(SetTimer{step.timer()})
}

// stopWaiting takes back the timer of the step the stop was in.
func (m *machine) stopWaiting() {
	if m.Stop != nil && m.Stop.Step != StopBegun {
		m.emit(StopTimer{m.Stop.Step.timer()})
		m.Stop.Step = StopBegun
	}
}

func (s StopStep) timer() Timer {
	switch s {
	case StopOnStart, StopOnTurn, StopOnRest:
		return TimerTurn
	case StopOnFollower:
		return TimerGrace
	default:
		return TimerAnswer
	}
}

func (m *machine) interrupt() {
	// No second interrupt for a turn: sent after the first was accepted, it
	// stays without an answer until the next turn ends.
	if m.Stop.Interrupted == m.Turn.ID {
		m.waitFor(StopOnTurn) // a look at the goal meanwhile has taken its timer back
		return
	}
	m.Stop.Interrupted = m.Turn.ID
	m.stopWaiting() // a time of its own for each turn
	m.waitFor(StopOnTurn)
	m.emit(Write{Frame{Role: RoleInterrupt, Turn: m.Turn.ID}})
}

// wasInterrupted reports whether the last turn ended because of this stop.
func (m *machine) wasInterrupted() bool {
	return m.Op != nil && m.Op.Last != nil && m.Op.Last.ID == m.Stop.Interrupted &&
		m.Op.Last.Status == protocol.TurnStatusInterrupted
}

func (m *machine) stopReplied(f Frame, r Reply) {
	if f.Role != m.Stop.OnWire {
		return
	}
	m.Stop.OnWire = 0
	m.stopWaiting()
	switch {
	case r.Delivery == Acknowledged && !r.Drift:
		m.know(r.Goal)
	case f.Role == RoleStopPause:
		m.Stop.Look = true // refused or unreadable: only Codex knows what the goal is
		return
	}
	switch f.Role {
	case RoleStopPause, RoleStopLook:
		saw := m.Stop.SawComplete
		if read := r.Delivery == Acknowledged && !r.Drift; f.Role == RoleStopLook && !(read && m.goalPaused()) {
			m.Stop.SawComplete = false // whatever pauses the goal from here on is not this stop
		}
		if m.goalActive() {
			// It cannot be paused: only without its app-server does nothing run.
			m.cut(cmp.Or(r.Err, ErrStillActive))
			return
		}
		if saw && m.goalPaused() && r.Delivery == Acknowledged {
			// 0.160.1 stores paused for a finished goal: it becomes complete again.
			m.Stop.Look = false
			m.stopWrite(RoleRestore)
		}
	case RoleRestore:
		m.Stop.SawComplete = false
	}
}

func (m *machine) goalPaused() bool {
	return m.Goal != nil && m.Goal.Status == protocol.ThreadGoalStatusPaused
}

// endStop ends the operation and answers everyone who asked for the stop.
func (m *machine) endStop() {
	m.stopWaiting()
	tickets := m.Stop.Tickets
	m.Stop = nil
	var out *Outcome
	op := m.owner()
	if m.Op != nil {
		o := m.stopOutcome()
		out = &o
		m.end(o)
	}
	for _, t := range tickets {
		m.emit(Answer{Ticket: t, Op: op, Goal: m.Goal, GoalKnown: m.GoalKnown, Outcome: out})
	}
}

// stopOutcome is stopped, unless what was to be stopped had ended by itself.
func (m *machine) stopOutcome() Outcome {
	o := outcome(&m.State)
	switch o.End {
	case EndComplete, EndDone, EndCleared:
	default:
		o.End = EndStopped
	}
	return o
}
