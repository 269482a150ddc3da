package lifecycle

import (
	"fmt"
	"slices"

	"github.com/codexctl/codexctl/codex/protocol"
)

// submit binds a change to the operation its caller saw and puts it in line.
func (m *machine) submit(e Submit) {
	current := 0
	if m.Op != nil {
		current = m.Op.ID
	}
	switch {
	case m.Closing:
		m.emit(Answer{Ticket: e.Ticket, Err: ErrClosing})
		return
	case m.Stop != nil:
		m.emit(Answer{Ticket: e.Ticket, Err: ErrStopped})
		return
	case e.Change.bound() && e.Owner != 0 && e.Owner != current:
		m.emit(Answer{Ticket: e.Ticket, Err: ErrOwnerFinished})
		return
	}
	s := Submission{Ticket: e.Ticket, Change: e.Change}
	if e.Change.bound() {
		s.Owner = current
	}
	m.Waiting = append(m.Waiting, s)
}

// invokeNext writes the change that waits longest, if the lane is free.
func (m *machine) invokeNext() {
	if m.Lane != nil || len(m.Waiting) == 0 {
		return
	}
	next := m.Waiting[0]
	m.Waiting = m.Waiting[1:]
	switch {
	case m.Op == nil:
		// Look first: another process may have changed the goal without a word to
		// this one, or have the thread.
		m.call(next, RoleLook)
	case next.prompts():
		m.refuse(next, ErrBusy)
		m.invokeNext()
	case next.Change.Kind == ChangeEdit && !m.GoalKnown:
		m.call(next, RoleLook)
	case m.pointless(next) != nil:
		m.refuse(next, m.pointless(next))
		m.invokeNext()
	case next.Change.Kind == ChangeClear:
		m.call(next, RoleClear)
	default:
		m.call(next, RoleSet)
	}
}

// pointless is why the goal as it is known makes no sense of a change; nil when it
// does.
func (m *machine) pointless(s Submission) error {
	switch {
	case s.Change.Kind == ChangePause && m.Goal != nil && m.Goal.Status == protocol.ThreadGoalStatusComplete:
		return ErrComplete // 0.160.1 would store paused: a pause un-finishes a finished goal
	case s.Change.Kind == ChangeEdit && m.Goal == nil:
		return ErrNoGoal // 0.160.1 would make an active goal of it
	case s.prompts() && m.Op != nil && m.Op.ID != s.Owner:
		return ErrBusy
	case s.prompts() && m.goalActive():
		// Loading the thread would start a turn of the goal's, and 0.160.1 takes a
		// turn/start for a steer of it.
		return ErrGoalActive
	}
	return nil
}

// refuse answers a submission of which nothing was written.
func (m *machine) refuse(s Submission, err error) {
	m.emit(Answer{Ticket: s.Ticket, Op: m.owner(), Goal: m.Goal, Err: err})
}

// call takes the lane and writes a frame for the submission.
func (m *machine) call(s Submission, role Role) { m.next(Call{Submission: s}, role) }

// next writes the next frame of a call.
func (m *machine) next(call Call, role Role) {
	call.Role = role
	m.Lane = &call
	m.emit(Write{Frame{Role: role, Ticket: call.Ticket, Change: call.Change}})
}

// replied takes the one outcome of a frame.
func (m *machine) replied(f Frame, r Reply) {
	if r.Delivery == Unknown && f.Role.decides() {
		m.cut(r.Err)
		return
	}
	switch f.Role {
	case RoleLoad:
		m.loadReplied(f, r)
	case RoleStart:
		m.startReplied(f, r)
	case RoleSteer:
		m.Steers = slices.DeleteFunc(m.Steers, func(t Ticket) bool { return t == f.Ticket })
		// A steer changes no goal and no turn's end: without an answer it is its
		// caller's trouble alone, and what runs goes on.
		m.emit(Answer{Ticket: f.Ticket, Op: m.owner(), Err: r.failure(), Unknown: r.Delivery == Unknown})
	case RoleInterrupt:
		// Refused means that the turn is over, or that another one runs: the turns'
		// own notifications say which.
	case RoleStopPause, RoleStopLook, RoleRestore:
		if m.Stop != nil {
			m.stopReplied(f, r)
		}
	default:
		if m.Lane != nil && m.Lane.Role == f.Role && m.Lane.Ticket == f.Ticket {
			m.laneReplied(r)
		}
	}
}

func (m *machine) startReplied(f Frame, r Reply) {
	if m.Start != f.Ticket {
		return
	}
	m.Start = 0
	m.emit(Answer{Ticket: f.Ticket, Op: m.owner(), Goal: m.Goal, Err: r.failure()})
	if r.Delivery != Acknowledged {
		m.Op.Err = r.Err
		return
	}
	m.Op.Fresh = false
	// The turn may be over already. Without a readable id any end counts as its.
	over := m.Op.Last != nil && (r.Drift || m.Op.Last.ID == r.TurnID)
	if m.Turn.Phase == TurnNone && !over {
		m.Turn = Turn{ID: r.TurnID, Phase: TurnStarting}
	}
}

// failure is why the frame was not accepted; nil when it was, even if what was
// answered could not be read.
func (r Reply) failure() error {
	if r.Delivery == Acknowledged {
		return nil
	}
	return r.Err
}

func (m *machine) laneReplied(r Reply) {
	call := *m.Lane
	m.Lane = nil
	switch call.Role {
	case RoleLook:
		m.looked(call, r)
	case RoleReset:
		m.wasReset(call, r)
	case RolePark:
		m.parked(call, r)
	case RoleUnpark:
		m.unparked(call, r)
	case RoleDecide:
		m.decided(r)
	case RoleUndo:
		note := NoteNone // refused, the goal stays paused as asked
		switch {
		case r.Drift:
			note = NoteUnreadable
		case r.Delivery == Acknowledged:
			note = NoteCompleted
			m.know(r.Goal)
		}
		m.acknowledged(call, m.Goal, note)
	case RoleStallLook, RoleStallStop:
		m.stallReplied(call, r)
	case RoleConfirm:
		if r.Delivery == Acknowledged && !r.Drift {
			m.know(r.Goal)
			m.acknowledged(call, m.Goal, NoteNone)
			return
		}
		m.assume(call.Change)
		m.acknowledged(call, nil, NoteUnreadable)
	case RoleSet, RoleClear:
		switch {
		case r.Delivery != Acknowledged:
			m.reject(call, r)
		case r.Drift:
			// It was applied; only its text is lost. Read what the goal is now.
			m.call(call.Submission, RoleConfirm)
		case call.Role == RoleClear:
			m.know(nil)
			m.acknowledged(call, nil, NoteNone)
		case m.undo(call, r.Goal):
		default:
			m.know(r.Goal)
			note := NoteNone
			if call.Held {
				note = NoteHeld
			}
			m.acknowledged(call, r.Goal, note)
		}
	}
}

// assume takes an acknowledged change for done when nobody can tell what the goal
// is now: what follows, or the search for a stalled goal's turn, will.
func (m *machine) assume(c Change) {
	m.GoalKnown = false
	if !c.owns() {
		return
	}
	goal := protocol.ThreadGoal{}
	if m.Goal != nil {
		goal = *m.Goal
	}
	if c.Objective != "" {
		goal.Objective = c.Objective
	}
	goal.Status = protocol.ThreadGoalStatusActive
	m.Goal = &goal
}

// undo sets a goal complete again that was complete before the pause reached it:
// 0.160.1 stores paused for a finished goal.
func (m *machine) undo(call Call, goal *protocol.ThreadGoal) bool {
	if !call.SawComplete || goal == nil || goal.Status != protocol.ThreadGoalStatusPaused {
		return false
	}
	m.know(goal)
	m.call(call.Submission, RoleUndo)
	return true
}

func (m *machine) wasReset(call Call, r Reply) {
	if r.Delivery != Acknowledged {
		m.reject(call, r)
		return
	}
	m.know(nil)
	call.Reset, call.Parked = true, false
	if call.Abandoned {
		m.abandon(call)
		return
	}
	m.next(call, RoleSet)
}

func (m *machine) abandon(call Call) {
	err := ErrStopped
	if call.Reset {
		err = fmt.Errorf("%w: stopped", ErrOnlyCleared)
	}
	m.refuse(call.Submission, err)
}

// reject tells the submitter, and nobody else: the operation goes on as it was.
func (m *machine) reject(call Call, r Reply) {
	err := call.told(r.Err)
	if m.Op != nil && (m.Op.Fresh || m.Load == LoadNone) {
		m.Op.Err = err
	}
	m.refuse(call.Submission, err)
}

// told adds to the reason of a failure what is left of the steps before it.
func (c Call) told(err error) error {
	switch {
	case c.Reset:
		return fmt.Errorf("%w: %w", ErrOnlyCleared, err)
	case c.Parked:
		return fmt.Errorf("%w: %w", ErrOnlyPaused, err)
	}
	return err
}

func (m *machine) acknowledged(call Call, goal *protocol.ThreadGoal, note Note) {
	if goal != nil {
		m.Acked = goal.Objective
	}
	if m.Op != nil {
		m.Op.Fresh, m.Op.Stalled, m.Op.Err = false, false, nil
	}
	if m.goalActive() {
		m.become()
	}
	// 0.160.1 answers an active status with budgetLimited as a success.
	if note == NoteNone && call.Change.owns() && !m.goalActive() {
		note = NoteNotStarted
	}
	if call.Ticket != 0 { // 0: a pause of our own, for a stall
		m.emit(Answer{Ticket: call.Ticket, Op: m.owner(), Goal: goal, Note: note})
	}
}

// goalUpdated takes a notification. While a call is on the lane it is only the
// last word before the reply: the reply outranks it.
func (m *machine) goalUpdated(goal *protocol.ThreadGoal) {
	if goal.Status == protocol.ThreadGoalStatusComplete {
		m.sawComplete()
	}
	if m.Lane == nil && m.Stop == nil && m.contradicts(goal) {
		m.decide()
		return
	}
	if m.contradicts(goal) {
		m.contradicted()
	}
	m.know(goal)
}

// sawComplete remembers that the goal ended by itself while a pause was on its way.
func (m *machine) sawComplete() {
	if m.Stop != nil && m.Stop.Paused {
		m.Stop.SawComplete, m.Stop.Look = true, true
	}
	if m.Lane != nil && m.Lane.Change.Kind == ChangePause {
		m.Lane.SawComplete = true
	}
}

// goalCleared takes a notification that names no objective: with a goal known, only
// Codex can say whether it is old news.
func (m *machine) goalCleared() {
	if m.Lane == nil && m.Stop == nil && m.GoalKnown && m.Goal != nil {
		m.decide()
		return
	}
	m.contradicted()
	m.know(nil)
}

// contradicts reports whether a notification speaks of another goal than the one
// known. After a clear's reply 0.160.1 sometimes announces the old goal once more.
func (m *machine) contradicts(goal *protocol.ThreadGoal) bool {
	return m.GoalKnown && (m.Goal == nil || m.Goal.Objective != goal.Objective)
}

func (m *machine) decide() { m.call(Submission{}, RoleDecide) }

// contradicted has a call that loads the thread look again: the reply it waits for
// says nothing of the goal.
func (m *machine) contradicted() {
	if m.Lane != nil && m.Lane.Role == RoleLoad {
		m.Lane.LookAgain = true
	}
}

func (m *machine) decided(r Reply) {
	if r.Delivery != Acknowledged || r.Drift {
		m.GoalKnown = false // the next notification is taken as it comes
		return
	}
	m.know(r.Goal)
	if m.Op != nil && m.Op.Kind == KindGoal && m.Acked != "" && (r.Goal == nil || r.Goal.Objective != m.Acked) {
		m.Acked = ""
		m.emit(Elsewhere{Goal: r.Goal})
	}
}

func (m *machine) know(goal *protocol.ThreadGoal) {
	m.Goal, m.GoalKnown = goal, true
}

func (m *machine) owner() int {
	if m.Op == nil {
		return 0
	}
	return m.Op.ID
}
