package lifecycle

import (
	"fmt"

	"github.com/codexctl/codexctl/codex/protocol"
)

// Work on a thread that is stored only begins in this order: look, have the thread,
// then write. A goal that was set before a load that is refused would be left
// changed and without work. Where the stored goal is active, loading the thread
// starts it within some 50 ms on 0.160.1: for another objective it is paused first,
// which needs no loaded thread and starts nothing, and is set active again when the
// load is refused.

// looked goes on with a submission on an idle thread once its goal is known.
func (m *machine) looked(call Call, r Reply) {
	if r.Delivery != Acknowledged || r.Drift {
		r.Err = fmt.Errorf("%w: %v", ErrUnread, r.Err) // the delivery of the read is nobody's concern
		m.reject(call, r)
		return
	}
	m.know(r.Goal)
	call.SawComplete = false // what was announced before the reply is older
	call.Held = r.Held != nil && m.Load != Loaded
	switch c := call.Change; {
	case call.Abandoned:
		m.abandon(call)
	case call.Held && !(c.Kind == ChangePause && c.Force):
		m.reject(call, Reply{Err: r.Held})
	case m.pointless(call.Submission) != nil:
		m.reject(call, Reply{Err: m.pointless(call.Submission)})
	case call.begins():
		m.beginWork(call)
	case c.Kind == ChangeClear:
		m.next(call, RoleClear)
	default:
		m.next(call, RoleSet)
	}
}

// beginWork has the thread loaded, if it is not, and then does what the submission
// is for. A turn that Codex started meanwhile has an operation already.
func (m *machine) beginWork(call Call) {
	if m.Op == nil {
		kind := KindGoal
		if call.prompts() {
			kind = KindPrompt
		}
		m.begin(kind, false)
	}
	call.Owner = m.Op.ID
	another := call.Change.Objective != "" || !call.Change.Budget.IsAbsent()
	switch {
	case m.Load == Loaded:
		m.work(call)
	case m.goalActive() && another:
		m.next(call, RolePark)
	default:
		m.load(call)
	}
}

func (m *machine) load(call Call) {
	m.Load = LoadOnWire
	m.next(call, RoleLoad)
}

// work writes what the submission is for, now that the thread is loaded.
func (m *machine) work(call Call) {
	switch {
	case call.LookAgain:
		call.LookAgain = false
		m.next(call, RoleLook)
	case m.pointless(call.Submission) != nil: // the goal was made active meanwhile
		m.reject(call, Reply{Err: m.pointless(call.Submission)})
	case call.prompts():
		m.start(call.Submission)
	case call.Change.Kind == ChangeSet && m.Goal != nil && m.Goal.Status == protocol.ThreadGoalStatusComplete:
		// 0.160.1 carries the counters and the budget of a complete goal over to
		// the objective that replaces it: a new goal needs a clear first.
		m.next(call, RoleReset)
	default:
		m.next(call, RoleSet)
	}
}

func (m *machine) parked(call Call, r Reply) {
	if r.Delivery != Acknowledged {
		m.reject(call, r)
		return
	}
	call.Parked = true
	if r.Drift && m.Goal != nil {
		goal := *m.Goal // it was applied; only its text is lost
		goal.Status = protocol.ThreadGoalStatusPaused
		r.Goal = &goal
	}
	m.know(r.Goal)
	switch {
	case call.Abandoned:
		m.abandon(call)
	case m.goalActive():
		m.reject(call, Reply{Err: ErrGoalActive}) // somebody set it active behind the pause
	case m.Load == Loaded: // a turn started meanwhile
		m.work(call)
	default:
		m.load(call)
	}
}

func (m *machine) loadReplied(f Frame, r Reply) {
	switch {
	case r.Delivery == Acknowledged:
		m.Load = Loaded
	case m.Load == LoadOnWire: // else a turn has started meanwhile
		m.Load = LoadNone
	}
	if m.Lane == nil || m.Lane.Role != RoleLoad || m.Lane.Ticket != f.Ticket {
		return // a stop came
	}
	call := *m.Lane
	m.Lane = nil
	switch {
	case m.Load == Loaded:
		m.work(call)
	case call.Parked:
		call.Refused = r.Err
		m.next(call, RoleUnpark)
	default:
		m.reject(call, r)
	}
}

// unparked tells of a refused load once the goal is as it was.
func (m *machine) unparked(call Call, r Reply) {
	err := call.Refused
	if r.Delivery == Acknowledged {
		call.Parked = false
		if !r.Drift {
			m.know(r.Goal)
		}
	} else {
		err = fmt.Errorf("%w; setting it active again: %w", err, r.Err)
	}
	m.reject(call, Reply{Err: err})
}
