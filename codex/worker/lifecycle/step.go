package lifecycle

import (
	"slices"

	"github.com/codexctl/codexctl/codex/protocol"
)

// Step takes the state one event further. It returns the next state and what
// must be done, in order. It never changes s.
func Step(s State, event Event) (State, []Effect) {
	m := machine{State: s.clone()}
	if m.Gone {
		m.afterwards(event)
		return m.State, m.effects
	}
	m.apply(event)
	m.settle()
	return m.State, m.effects
}

// machine is one step in the making.
type machine struct {
	State
	effects []Effect
}

func (m *machine) emit(e Effect) { m.effects = append(m.effects, e) }

func (m *machine) apply(event Event) {
	switch e := event.(type) {
	case Submit:
		m.submit(e)
	case Prompt:
		m.prompt(e)
	case Steer:
		m.steer(e)
	case StopAsked:
		m.askStop(e)
	case Replied:
		m.replied(e.Frame, e.Reply)
	case GoalUpdated:
		m.goalUpdated(e.Goal)
	case GoalCleared:
		m.goalCleared()
	case TurnStarted:
		m.turnStarted(e.ID)
	case TurnCompleted:
		m.turnCompleted(LastTurn(e))
	case RestEnded:
		m.restEnded()
	case TimerFired:
		m.timerFired(e.Timer)
	case Disconnected:
		m.lose(e.Err, e.Closed)
	}
}

// prompt puts a prompt in line. It begins an operation of its own or is refused.
func (m *machine) prompt(e Prompt) {
	switch {
	case m.Closing:
		m.emit(Answer{Ticket: e.Ticket, Err: ErrClosing})
	case m.Op != nil || m.Stop != nil:
		m.emit(Answer{Ticket: e.Ticket, Err: ErrBusy})
	default:
		m.Waiting = append(m.Waiting, Submission{Ticket: e.Ticket, Text: e.Text})
	}
}

func (m *machine) start(s Submission) {
	m.Op.Last = nil // whatever ended before is not the prompt's turn
	m.Start = s.Ticket
	m.emit(Write{Frame{Role: RoleStart, Ticket: s.Ticket, Text: s.Text}})
}

func (m *machine) steer(e Steer) {
	switch {
	case m.Closing:
		m.emit(Answer{Ticket: e.Ticket, Err: ErrClosing})
	case m.Stop != nil:
		m.emit(Answer{Ticket: e.Ticket, Err: ErrStopped})
	case m.Turn.Phase != TurnRunning:
		m.emit(Answer{Ticket: e.Ticket, Err: ErrNoTurn})
	default:
		// Never turn/start: 0.160.1 takes it for a steer while a turn runs, and
		// for a new turn when that one has just ended.
		m.Steers = append(m.Steers, e.Ticket)
		m.emit(Write{Frame{Role: RoleSteer, Ticket: e.Ticket, Turn: m.Turn.ID, Text: e.Text}})
	}
}

func (m *machine) turnStarted(id string) {
	m.Turn = Turn{ID: id, Phase: TurnRunning}
	m.Load = Loaded // whatever a resume is answered
	m.calm()
	if m.Stop != nil {
		switch m.Stop.Rest {
		case RestEnding:
			m.Stop.Rest = RestStale
		case RestDone:
			m.Stop.Rest = RestDue
		}
	}
	if m.Op == nil {
		// No work runs without an owner: a resumed goal, the model's own
		// create_goal and a turn that outran a pause start turns unasked.
		m.begin(KindGoal, true)
	}
	m.Op.Fresh = false
}

func (m *machine) turnCompleted(last LastTurn) {
	// A turn interrupted in its first milliseconds completes without having started.
	if m.Turn.ID != "" && m.Turn.ID != last.ID {
		return
	}
	m.Turn = Turn{}
	if m.Op != nil {
		m.Op.Last = &last
		m.Op.Fresh = false
	}
}

func (m *machine) timerFired(t Timer) {
	switch t {
	case TimerStall:
		m.stallFired()
	case TimerGrace:
		if m.Stop != nil {
			m.Stop.GraceOver = true
		}
	case TimerAnswer, TimerTurn:
		if m.Stop != nil {
			m.cut(ErrStopTimeout)
		}
	}
}

// settle draws the conclusions from what is known after each event: it invokes
// what waits, ends what is over and keeps the rest held.
func (m *machine) settle() {
	switch {
	case m.Gone:
	case m.Stop != nil:
		m.advanceStop()
	case m.Lane != nil || m.Start != 0 || m.Load == LoadOnWire:
		// Held: a mutation is pending.
	case m.Op == nil || m.Turn.Phase != TurnNone:
		m.invokeNext()
	case m.goalActive() && m.Load == LoadNone && m.Op.Err != nil:
		m.end(Outcome{End: EndFailed, Goal: m.Goal, GoalKnown: m.GoalKnown, Turn: m.Op.Last, Err: m.Op.Err})
		m.settle()
	case m.goalActive():
		m.become()
		m.invokeNext()
		if m.Lane == nil {
			m.watch()
		}
	default:
		m.end(outcome(&m.State))
		m.settle()
	}
}

func (m *machine) begin(kind Kind, adopted bool) {
	m.Started++
	m.Op = &Operation{ID: m.Started, Kind: kind, Adopted: adopted, Fresh: !adopted}
	m.Acked = ""
	m.emit(Began{Op: m.Op.ID, Kind: kind, Adopted: adopted})
}

// become makes a prompt's operation the goal's, once the goal is active with it.
func (m *machine) become() {
	if m.Op != nil && m.Op.Kind == KindPrompt {
		m.Op.Kind = KindGoal
		m.emit(Became{Op: m.Op.ID})
	}
}

func (m *machine) end(out Outcome) {
	m.calm()
	op := m.Op.ID
	m.Op = nil
	m.Acked = ""
	m.emit(Ended{Op: op, Outcome: out})
	m.Waiting = slices.DeleteFunc(m.Waiting, func(w Submission) bool {
		if w.Owner != op {
			return false
		}
		m.emit(Answer{Ticket: w.Ticket, Err: ErrOwnerFinished})
		return true
	})
}

func (m *machine) goalActive() bool {
	return m.Goal != nil && m.Goal.Status == protocol.ThreadGoalStatusActive
}

// clone copies what a step may change in place.
func (s State) clone() State {
	s.Waiting = slices.Clone(s.Waiting)
	s.Steers = slices.Clone(s.Steers)
	if s.Op != nil {
		op := *s.Op
		s.Op = &op
	}
	if s.Lane != nil {
		lane := *s.Lane
		s.Lane = &lane
	}
	if s.Stop != nil {
		stop := *s.Stop
		stop.Tickets = slices.Clone(stop.Tickets)
		s.Stop = &stop
	}
	return s
}
