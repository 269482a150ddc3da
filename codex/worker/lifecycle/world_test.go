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
	wire    []Frame        // written and not answered
	written map[string]int // mutations written, by submission and step
	open    []Ticket       // submitted and not answered
	tickets int            // submissions so far
	left    int            // submissions that may still come
	turn    string         // the turn that runs; "" none
	turns   int
	asked   bool // a turn was asked for and has not started
	timers  []Timer
	gone    bool

	goal        *protocol.ThreadGoal // what replies and later notifications say
	announced   *protocol.ThreadGoal // the last word while a change was on the wire
	heard       bool                 // announced is valid
	unsure      bool                 // a notification contradicted the goal, and no read has decided
	stopping    bool                 // a stop was asked for and not answered
	stop        Ticket               // the last one
	stopPaused  bool                 // a stop wrote its pause
	sawComplete bool                 // and the goal was announced complete after that
	restored    bool
}

type stepper func(State, Event) (State, []Effect)

func (w world) clone() world {
	w.wire = slices.Clone(w.wire)
	w.open = slices.Clone(w.open)
	w.timers = slices.Clone(w.timers)
	written := make(map[string]int, len(w.written)+1)
	for k, n := range w.written {
		written[k] = n
	}
	w.written = written
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
	return w, w.atRest()
}

// observe books the event itself and reports whether it ends the connection.
func (w *world) observe(e Event) (lost bool) {
	switch e := e.(type) {
	case Submit:
		w.open = append(w.open, e.Ticket)
	case Prompt:
		w.open = append(w.open, e.Ticket)
	case Steer:
		w.open = append(w.open, e.Ticket)
	case StopAsked:
		w.open = append(w.open, e.Ticket)
		if !w.stopping {
			w.stopping, w.stopPaused, w.sawComplete, w.restored = true, false, false, false
		}
		w.stop = e.Ticket
	case Replied:
		w.wire = slices.DeleteFunc(w.wire, func(f Frame) bool { return f == e.Frame })
		if e.Reply.Delivery == Unknown {
			return true
		}
		w.observeReply(e)
	case GoalUpdated:
		w.observeGoal(e.Goal)
	case GoalCleared:
		w.observeGoal(nil)
	case TurnStarted:
		w.turn, w.asked = e.ID, false
	case TurnCompleted:
		w.turn, w.asked = "", false
	case TimerFired:
		w.timers = slices.DeleteFunc(w.timers, func(t Timer) bool { return t == e.Timer })
	case Disconnected:
		return true
	}
	return false
}

func (w *world) observeReply(e Replied) {
	if e.Frame.Role == RoleStart && e.Reply.TurnID == fmt.Sprintf("t%d", w.turns+1) {
		w.asked = true
	}
	if !isGoalCall(e.Frame.Role) {
		return
	}
	switch {
	case e.Reply.Delivery == Acknowledged && !e.Reply.Drift:
		w.goal, w.heard, w.unsure = e.Reply.Goal, false, false
		if e.Frame.Role == RoleStopLook && status(w.goal) != protocol.ThreadGoalStatusPaused {
			w.sawComplete = false // whatever pauses it from here on is not the stop
		}
	case e.Reply.Drift:
		w.unsure = true
	case e.Frame.Role.Reads():
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
	if w.stopPaused && goal != nil && goal.Status == protocol.ThreadGoalStatusComplete {
		w.sawComplete = true
	}
	if slices.ContainsFunc(w.wire, func(f Frame) bool { return isGoalCall(f.Role) }) {
		w.announced, w.heard = goal, true
		return
	}
	if objective(goal) != objective(w.goal) {
		w.unsure = true
		return
	}
	w.goal = goal
}

// check holds one effect against the promises.
func (w *world) check(effect Effect, lost bool) error {
	switch e := effect.(type) {
	case Write:
		return w.checkWrite(e.Frame)
	case Answer:
		i := slices.Index(w.open, e.Ticket)
		if i < 0 {
			return fmt.Errorf("ticket %d answered twice, or never submitted", e.Ticket)
		}
		w.open = slices.Delete(w.open, i, i+1)
		if w.stopping && e.Outcome != nil && e.Err == nil && w.sawComplete && !w.restored && status(w.goal) == protocol.ThreadGoalStatusPaused {
			return errors.New("a finished goal was left paused by a stop")
		}
		if e.Ticket == w.stop {
			w.stopping = false
		}
	case Ended:
		if lost || w.gone || e.Outcome.End == EndDisconnected {
			return nil
		}
		return w.checkEnd(e.Outcome)
	case SetTimer:
		if !slices.Contains(w.timers, e.Timer) {
			w.timers = append(w.timers, e.Timer)
			slices.Sort(w.timers)
		}
	case StopTimer:
		w.timers = slices.DeleteFunc(w.timers, func(t Timer) bool { return t == e.Timer })
	case Disconnect:
		w.gone = true
		w.wire, w.turn = nil, ""
	}
	if lost {
		w.gone = true
	}
	return nil
}

func (w *world) checkWrite(f Frame) error {
	switch {
	case w.gone:
		return fmt.Errorf("%s written after the connection was over", label(f))
	case f.Role == RoleStopPause && w.goal != nil && w.goal.Status == protocol.ThreadGoalStatusComplete && !w.unsure && !w.changePending():
		return errors.New("a stop pauses a goal that is known to be complete")
	case changes(f.Role) && f.Role != RoleStopPause && w.changePending():
		return fmt.Errorf("%s written while another change is on the wire", label(f))
	case f.Role == RoleInterrupt && (f.Turn == "" || f.Turn != w.turn):
		return fmt.Errorf("interrupt written for %q while %q runs", f.Turn, w.turn)
	}
	if f.Ticket != 0 && !f.Role.Reads() || f.Role == RoleInterrupt {
		key := label(f)
		if w.written[key]++; w.written[key] > 1 {
			return fmt.Errorf("%s written twice", key)
		}
	}
	switch f.Role {
	case RoleStopPause:
		w.stopPaused, w.sawComplete, w.restored = true, false, false
	case RoleRestore:
		w.restored = true
	}
	w.wire = append(w.wire, f)
	return nil
}

func (w *world) checkEnd(out Outcome) error {
	switch {
	case w.changePending() || slices.ContainsFunc(w.wire, func(f Frame) bool { return f.Role == RoleStart }):
		return fmt.Errorf("the operation ended %s while a mutation was pending", out.End)
	case w.turn != "":
		return fmt.Errorf("the operation ended %s while a turn runs", out.End)
	case status(w.goal) == protocol.ThreadGoalStatusActive && !w.unsure:
		return fmt.Errorf("the operation ended %s while the goal is active", out.End)
	}
	return nil
}

// atRest checks what must hold between two events.
func (w *world) atRest() error {
	waiting := len(w.wire) > 0 || w.turn != "" || w.asked || len(w.timers) > 0
	switch {
	case w.gone && len(w.open) > 0:
		return fmt.Errorf("the connection is over and ticket %d has no answer", w.open[0])
	case w.gone && len(w.timers) > 0:
		return errors.New("the connection is over and a timer runs")
	case w.gone && w.state.Op != nil:
		return errors.New("the connection is over and an operation goes on")
	case len(w.open) > 0 && !waiting:
		return fmt.Errorf("ticket %d waits for nothing", w.open[0])
	case w.state.Op != nil && !waiting:
		return errors.New("the operation waits for nothing")
	}
	return nil
}

func (w *world) changePending() bool {
	return slices.ContainsFunc(w.wire, func(f Frame) bool { return changes(f.Role) })
}

// changes reports whether a frame changes the goal.
func changes(r Role) bool { return isGoalCall(r) && !r.Reads() }

func isGoalCall(r Role) bool {
	return r != RoleInterrupt && r != RoleStart && r != RoleSteer
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

func label(f Frame) string {
	name := roleNames[f.Role]
	if f.Role == RoleSet && f.Change.Kind != ChangeSet {
		name = changeNames[f.Change.Kind]
	}
	return fmt.Sprintf("%s[%d]%s", name, f.Ticket, f.Turn)
}

var changeNames = map[ChangeKind]string{
	ChangePause: "pause", ChangeResume: "resume", ChangeEdit: "edit", ChangeBudget: "budget",
}

var roleNames = map[Role]string{
	RoleSet: "set", RoleClear: "clear", RoleReset: "reset", RoleLook: "look", RoleDecide: "decide",
	RoleConfirm: "confirm", RoleUndo: "undo", RoleStallLook: "stall-look", RoleStallStop: "stall-pause",
	RoleStopPause: "stop-pause", RoleStopLook: "stop-look", RoleRestore: "restore",
	RoleInterrupt: "interrupt", RoleStart: "turn-start", RoleSteer: "steer",
}
