package lifecycle

import (
	"errors"
	"fmt"
	"slices"

	"github.com/codexctl/codexctl/codex/protocol"
)

// world is a state of the core together with what an onlooker knows of the wire
// and the callers. It keeps its own books, so that it can tell when Step breaks a
// promise; it never looks into State to do so.
type world struct {
	state   State
	wire    []Frame  // written and not answered
	written []string // mutations written, by submission and step
	open    []ticket // submitted and not answered, in order
	tickets int      // submissions so far
	left    int      // submissions that may still come

	owner     int // the operation that owns the thread; 0 none
	lastOwner int
	turn      string // the turn that runs; "" none
	turns     int
	asked     bool // a turn was asked for and has not started
	ended     bool // a turn has ended since it was asked for
	loaded    bool
	timers    []Timer
	gone      bool

	goal      *protocol.ThreadGoal // what replies and later notifications say
	announced *protocol.ThreadGoal // the last word while a change was on the wire
	heard     bool                 // announced is valid
	unsure    bool                 // a notification contradicted the goal, and no read has decided

	stopping    bool // a stop was asked for and not answered
	stopPaused  bool // it wrote its pause
	sawComplete bool // and the goal was announced complete after that
	restored    bool
	unfinished  bool // sawComplete, also where no read could tell what came of it

	stopLost  bool                      // it came during a stop that is not answered
	over      bool                      // the connection has ended by itself
	restStale bool                      // a turn has started since that began
	resting   bool                      // what the turns have left behind is being ended
	rested    bool                      // it was, and no turn has started since
	stoppedOp bool                      // the stop found an operation
	closed    bool                      // the connection was ended in an orderly way
	lookBack  bool                      // the goal is to be read back
	setBack   protocol.ThreadGoalStatus // it is to be set to this; "" is not
	wasSet    bool
	back      LookedBack // what was found last
}

// ticket is one submission as the onlooker follows it.
type ticket struct {
	n       Ticket
	kind    ChangeKind // of a change; 0 is a prompt, a steer or a stop
	stop    bool
	final   bool // a stop that closes
	prompt  bool
	owner   int      // of a bound change: the operation its caller saw
	busy    bool     // a prompt: an operation owned the thread, or its goal was active
	sent    bool     // a frame of its own was written
	outcome Delivery // of its last mutation
	pending bool     // that one is on the wire
	started bool     // its change was answered with an active goal
	change  Change   // of a change
	held    bool     // a look found that another process has the thread
	parked  bool     // the goal was paused for it, and is
	read    bool     // its result could be read
}

func newWorld(load Load, submissions int) world {
	return world{state: State{Load: load}, loaded: load == Loaded, left: submissions}
}

type stepper func(State, Event) (State, []Effect)

func (w world) clone() world {
	w.wire = slices.Clone(w.wire)
	w.written = slices.Clip(w.written)
	w.open = slices.Clone(w.open)
	w.timers = slices.Clone(w.timers)
	return w
}

// take applies one event. The error names the promise that was broken.
func (w world) take(step stepper, e Event) (world, error) {
	w = w.clone()
	lost := w.observe(e)
	state, effects := step(w.state, e)
	w.state = state
	for _, effect := range effects {
		if err := w.check(effect, lost); err != nil {
			return w, err
		}
	}
	if _, over := e.(Disconnected); over {
		w.gone, w.wire, w.turn = true, nil, ""
	}
	if lost && !w.gone {
		return w, errors.New("the connection is over and the app-server was not ended")
	}
	return w, w.atRest()
}

// observe books the event itself and reports whether it must end the connection.
func (w *world) observe(e Event) (lost bool) {
	switch e := e.(type) {
	case Submit:
		t := ticket{n: e.Ticket, kind: e.Change.Kind, change: e.Change}
		if e.Change.bound() {
			t.owner = e.Owner
		}
		w.open = append(w.open, t)
	case Prompt:
		w.open = append(w.open, ticket{n: e.Ticket, prompt: true, busy: w.owner != 0 || w.stopping})
	case Steer:
		w.open = append(w.open, ticket{n: e.Ticket})
	case StopAsked:
		w.open = append(w.open, ticket{n: e.Ticket, stop: true, final: e.Final})
		if !w.stopping {
			w.rested, w.stoppedOp = false, w.owner != 0
			w.stopping, w.stopPaused, w.sawComplete, w.restored, w.unfinished = true, false, false, false, false
		}
	case Replied:
		w.wire = slices.DeleteFunc(w.wire, func(f Frame) bool { return f == e.Frame })
		w.observeReply(e)
		return e.Reply.Delivery == Unknown && !e.Frame.Role.Reads() && e.Frame.Role != RoleInterrupt && e.Frame.Role != RoleSteer
	case GoalUpdated:
		w.observeGoal(e.Goal)
	case GoalCleared:
		w.observeGoal(nil)
	case TurnStarted:
		w.turn, w.asked, w.loaded, w.rested = e.ID, false, true, false
		w.restStale = true
	case TurnCompleted:
		w.turn, w.asked, w.ended = "", false, true
	case TimerFired:
		w.timers = slices.DeleteFunc(w.timers, func(t Timer) bool { return t == e.Timer })
	case Disconnected:
		w.stopLost = w.stopping && !e.Closed
		w.over, w.closed = true, e.Closed
		return true
	case RestEnded:
		w.resting, w.rested = false, !w.restStale
	case LookedBack:
		w.lookBack, w.setBack, w.back = false, "", e
	}
	return false
}

func (w *world) observeReply(e Replied) {
	f, r := e.Frame, e.Reply
	ok := r.Delivery == Acknowledged
	if t := w.ticket(f.Ticket); t != nil {
		t.held = t.held || r.Held != nil
		switch {
		case f.Role == RolePark:
			t.parked = ok
		case f.Role == RoleUnpark:
			t.parked = !ok
		case ok && (f.Role == RoleSet || f.Role == RoleReset):
			t.parked = false
		}
	}
	if t := w.ticket(f.Ticket); t != nil && itsOwn(f.Role) && r.Delivery != Unknown {
		t.pending, t.read = false, !r.Drift
		if f.Role != RoleUndo { // it decides nothing about the pause it undoes
			t.outcome = r.Delivery
		}
		t.started = ok && !r.Drift && status(r.Goal) == protocol.ThreadGoalStatusActive
	}
	switch f.Role {
	case RoleStart:
		w.asked = w.asked || ok && w.turn == "" && (r.Drift && !w.ended || r.TurnID == fmt.Sprintf("t%d", w.turns+1))
	case RoleLoad:
		w.loaded = w.loaded || ok
	case RoleConfirm:
		if t := w.ticket(f.Ticket); t != nil {
			t.read = ok && !r.Drift
			t.started = t.read && status(r.Goal) == protocol.ThreadGoalStatusActive
		}
	}
	if isGoalCall(f.Role) {
		w.observeGoalReply(f, r)
	}
}

func (w *world) observeGoalReply(f Frame, r Reply) {
	if f.Role == RoleRestore && r.Delivery != Unknown {
		w.sawComplete, w.unfinished = false, false // whatever pauses it from here on is not the stop
	}
	switch {
	case r.Delivery == Acknowledged && !r.Drift:
		w.goal, w.heard, w.unsure = r.Goal, false, false
		if f.Role == RoleStopLook && status(w.goal) != protocol.ThreadGoalStatusPaused {
			w.sawComplete, w.unfinished = false, false
		}
	case r.Delivery == Acknowledged && !f.Role.Reads():
		w.unsure = true
	case f.Role.Reads():
		w.sawComplete = false // nobody can know whether it was left paused
		if w.heard {
			w.goal, w.heard = w.announced, false
		}
		w.unsure = true
	case w.heard && !w.changePending():
		w.goal, w.heard = w.announced, false
	}
}

func (w *world) observeGoal(goal *protocol.ThreadGoal) {
	if w.stopPaused && status(goal) == protocol.ThreadGoalStatusComplete {
		w.sawComplete, w.unfinished = true, true
	}
	switch {
	case w.goalCallPending():
		w.announced, w.heard = goal, true
	case objective(goal) != objective(w.goal):
		w.unsure = true
	default:
		w.goal = goal
	}
}

func (w *world) ticket(n Ticket) *ticket {
	for i := range w.open {
		if n != 0 && w.open[i].n == n {
			return &w.open[i]
		}
	}
	return nil
}

func (w *world) changePending() bool {
	return slices.ContainsFunc(w.wire, func(f Frame) bool { return changes(f.Role) })
}

func (w *world) goalCallPending() bool {
	return slices.ContainsFunc(w.wire, func(f Frame) bool { return isGoalCall(f.Role) })
}

// itsOwn reports whether a frame does what its submission asks for, and not what
// goes before or comes after it.
func itsOwn(r Role) bool {
	return !r.Reads() && r != RoleLoad && r != RolePark && r != RoleUnpark
}

// changes reports whether a frame changes the goal.
func changes(r Role) bool { return isGoalCall(r) && !r.Reads() }

func isGoalCall(r Role) bool {
	return r != RoleInterrupt && r != RoleStart && r != RoleSteer && r != RoleLoad
}

func objective(g *protocol.ThreadGoal) string {
	if g == nil {
		return ""
	}
	return g.Objective
}

func status(g *protocol.ThreadGoal) protocol.ThreadGoalStatus {
	if g == nil {
		return ""
	}
	return g.Status
}
