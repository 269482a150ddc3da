package lifecycle

import (
	"errors"
	"fmt"

	"github.com/codexctl/codexctl/codex/protocol"
)

// ErrStopUnknown says that after a stop without an answer the goal could not be read
// back, or not be paused: it may be active.
var ErrStopUnknown = errors.New("the goal may still be active")

// StopError is what a stop is told whose app-server ended before it had answered.
// Nothing runs any more. What the goal is was read back from a fresh app-server,
// which has also paused it if it was active.
type StopError struct {
	Err  error                // why: [ErrStopTimeout], [ErrStillActive], or what ended the app-server
	Goal *protocol.ThreadGoal // the goal as it is stored; nil is none, unless Back is set
	Back error                // why that is not known, or the goal is still active; nil else
}

func (e *StopError) Error() string {
	switch {
	case e.Back != nil:
		return fmt.Sprintf("%v; %v: %v", e.Err, ErrStopUnknown, e.Back)
	case e.Goal == nil:
		return fmt.Sprintf("%v; there is no goal now", e.Err)
	default:
		return fmt.Sprintf("%v; the goal is %s now", e.Err, e.Goal.Status)
	}
}

// Unwrap gives why the stop was not answered, and [ErrStopUnknown] if the goal may
// still be active.
func (e *StopError) Unwrap() []error {
	if e.Back != nil {
		return []error{e.Err, ErrStopUnknown, e.Back}
	}
	return []error{e.Err}
}

// cut loses the connection and has the app-server ended, which may not act any more
// on what was written.
func (m *machine) cut(err error) {
	m.lose(err, false)
	m.emit(Disconnect{Err: err})
}

// lose ends everything, because the connection is over. Whatever is pending has an
// unknown delivery, whatever waits was not sent, and nothing is written from here
// on. Only who asked for a stop waits on, until what the goal is was read back.
func (m *machine) lose(err error, closed bool) {
	m.Gone, m.Cause = true, err
	m.GoalKnown = false // it may be changed by what nobody has heard of
	m.calm()
	m.stopWaiting()
	m.loseLane(err)
	if m.Start != 0 {
		m.emit(Answer{Ticket: m.Start, Err: err, Unknown: true})
	}
	for _, t := range m.Steers {
		m.emit(Answer{Ticket: t, Err: err, Unknown: true})
	}
	for _, w := range m.Waiting {
		m.emit(Answer{Ticket: w.Ticket, Err: m.gone()})
	}
	m.Lane, m.Start, m.Steers, m.Waiting, m.Turn = nil, 0, nil, nil, Turn{}
	if m.Stop != nil && !closed {
		m.emit(LookBack{})
		return
	}
	m.over(err)
}

// over answers whoever still waits once the connection is over.
func (m *machine) over(err error) {
	var out *Outcome
	op := m.owner()
	if m.Op != nil {
		o := Outcome{End: EndDisconnected, Goal: m.Goal, GoalKnown: m.GoalKnown, Turn: m.Op.Last, Err: err}
		out = &o
		m.emit(Ended{Op: m.Op.ID, Outcome: o})
	}
	if m.Stop != nil {
		for _, t := range m.Stop.Tickets {
			m.emit(Answer{Ticket: t, Op: op, Goal: m.Goal, GoalKnown: m.GoalKnown, Outcome: out, Err: err})
		}
	}
	m.Op, m.Stop = nil, nil
}

// loseLane tells the submitter of the call on the wire what is known of it.
func (m *machine) loseLane(err error) {
	if m.Lane == nil || m.Lane.Ticket == 0 {
		return
	}
	a := Answer{Ticket: m.Lane.Ticket, Err: err, Unknown: true}
	switch m.Lane.Role {
	case RoleLook:
		a.Err, a.Unknown = m.Lane.told(m.gone()), false // nothing of it was written
	case RoleLoad:
		a.Err, a.Unknown = m.Lane.told(err), false
	case RolePark:
		a.Err, a.Unknown = fmt.Errorf("not sent, and whether the stored goal was paused for it cannot be known; look at it before going on: %w", err), false
	case RoleUnpark:
		a.Err, a.Unknown = fmt.Errorf("%w: %w; whether it is active again cannot be known: %w", ErrOnlyPaused, m.Lane.Refused, err), false
	case RoleConfirm, RoleUndo:
		a.Err, a.Unknown, a.Note = nil, false, NoteUnreadable // it was acknowledged
	}
	m.emit(a)
}

// gone is what a submission is told of which nothing was written. The cause is told
// in words only: what it says of a delivery is another submission's.
func (m *machine) gone() error { return fmt.Errorf("%w: %v", ErrDisconnected, m.Cause) }

// afterwards takes what happens when the connection is over.
func (m *machine) afterwards(event Event) {
	switch e := event.(type) {
	case Submit:
		m.emit(Answer{Ticket: e.Ticket, Err: m.gone()})
	case Prompt:
		m.emit(Answer{Ticket: e.Ticket, Err: m.gone()})
	case Steer:
		m.emit(Answer{Ticket: e.Ticket, Err: m.gone()})
	case StopAsked:
		if m.Stop != nil {
			m.Stop.Tickets = append(m.Stop.Tickets, e.Ticket)
			return
		}
		m.emit(Answer{Ticket: e.Ticket, Err: m.gone()})
	case LookedBack:
		if m.Stop != nil {
			m.lookedBack(e)
		}
	}
}

// lookedBack ends a stop that was not answered: a goal that is stored active is
// paused, since that was asked for, and one that the stop's pause has un-finished is
// complete again.
func (m *machine) lookedBack(e LookedBack) {
	told := &StopError{Err: m.Cause, Goal: e.Goal, Back: e.Err}
	if m.GoalKnown = e.Err == nil; m.GoalKnown {
		m.Goal = e.Goal
		if status := m.restingStatus(); status != "" && !m.Stop.SetBack {
			m.Stop.SetBack = true
			m.emit(SetBack{Status: status})
			return
		}
		if m.goalActive() {
			told.Back = ErrStillActive
		}
	}
	m.over(told)
}

// restingStatus is the status that the stored goal must get; "" if it may stay.
func (m *machine) restingStatus() protocol.ThreadGoalStatus {
	switch {
	case m.goalActive():
		return protocol.ThreadGoalStatusPaused
	case m.Stop.SawComplete && m.goalPaused():
		return protocol.ThreadGoalStatusComplete
	}
	return ""
}
