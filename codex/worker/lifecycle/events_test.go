package lifecycle

import (
	"errors"
	"fmt"

	"github.com/codexctl/codexctl/codex/protocol"
)

// move is an event with the words a trace prints for it.
type move struct {
	name  string
	event Event
}

const (
	active   = protocol.ThreadGoalStatusActive
	paused   = protocol.ThreadGoalStatusPaused
	complete = protocol.ThreadGoalStatusComplete
	overrun  = protocol.ThreadGoalStatusBudgetLimited
)

var (
	errRefused = errors.New("refused")
	errLost    = errors.New("lost")
	errClosed  = errors.New("closed")
)

func goalOf(objective string, s protocol.ThreadGoalStatus) *protocol.ThreadGoal {
	return &protocol.ThreadGoal{Objective: objective, Status: s}
}

// moves lists everything that can happen next.
func (w *world) moves() []move {
	var ms []move
	add := func(name string, e Event) { ms = append(ms, move{name, e}) }
	if w.gone {
		w.looksBack(add)
		return ms
	}
	changeSeen := false
	for _, f := range w.wire {
		if changes(f.Role) {
			if changeSeen {
				continue // replies to goal changes come in the order of the changes
			}
			changeSeen = true
		}
		for _, r := range w.replies(f) {
			add(label(f)+" "+r.name, Replied{f, r.reply})
		}
	}
	if w.resting {
		add("rest ended", RestEnded{})
	}
	w.announcements(add)
	for _, t := range w.timers {
		add(fmt.Sprintf("timer %d fires", t), TimerFired{t})
	}
	add("connection lost", Disconnected{Err: errLost})
	add("closed", Disconnected{Err: errClosed, Closed: true})
	if w.left > 0 {
		w.submissions(add)
	}
	return ms
}

// looksBack lists what a fresh app-server can say of the goal, and who may still ask
// meanwhile.
func (w *world) looksBack(add func(string, Event)) {
	now := objective(w.goal)
	switch {
	case w.setBack != "":
		add("set back", LookedBack{Goal: goalOf(now, w.setBack)})
		add("set back in vain", LookedBack{Goal: goalOf(now, active)})
		add("set back lost", LookedBack{Err: errLost})
	case w.lookBack:
		for _, s := range []protocol.ThreadGoalStatus{active, paused, complete} {
			add("looked back "+string(s), LookedBack{Goal: goalOf(now, s)})
		}
		add("looked back none", LookedBack{})
		add("looked back lost", LookedBack{Err: errLost})
	}
	if w.left > 0 && (w.lookBack || w.setBack != "") {
		t := Ticket(w.tickets + 1)
		add("stop", StopAsked{Ticket: t})
		add("prompt", Prompt{t, "p"})
	}
}

type namedReply struct {
	name  string
	reply Reply
}

func (w *world) replies(f Frame) []namedReply {
	ok := func(name string, g *protocol.ThreadGoal) namedReply {
		return namedReply{name, Reply{Delivery: Acknowledged, Goal: g}}
	}
	drift := namedReply{"undecodable", Reply{Delivery: Acknowledged, Drift: true}}
	rejected := namedReply{"rejected", Reply{Delivery: Rejected, Err: errRefused}}
	lost := namedReply{"lost", Reply{Delivery: Unknown, Err: errLost}}
	unsent := namedReply{"not sent", Reply{Delivery: NotSent, Err: errLost}}
	now := objective(w.goal)
	switch f.Role {
	case RoleSet:
		switch o := f.Change.Objective; f.Change.Kind {
		case ChangePause:
			return []namedReply{ok("paused", goalOf(now, paused)), rejected, drift, lost}
		case ChangeBudget:
			return []namedReply{ok("taken", w.goal), rejected, lost}
		case ChangeResume:
			return []namedReply{ok("active", goalOf(now, active)), ok("not active", goalOf(now, overrun)), rejected, lost}
		case ChangeEdit:
			if w.goal == nil {
				return []namedReply{ok("created", goalOf(o, active)), rejected, lost} // as 0.160.1 does
			}
			return []namedReply{ok("edited", goalOf(o, status(w.goal))), rejected, lost}
		default:
			return []namedReply{ok("active", goalOf(o, active)), ok("not active", goalOf(o, overrun)), rejected, drift, lost, unsent}
		}
	case RoleClear, RoleReset:
		return []namedReply{ok("cleared", nil), rejected, drift, lost}
	case RolePark:
		return []namedReply{ok("paused", goalOf(now, paused)), rejected, drift, lost, unsent}
	case RoleUnpark:
		return []namedReply{ok("active", goalOf(now, active)), rejected, drift, lost}
	case RoleStopPause, RoleStallStop:
		return []namedReply{ok("paused", goalOf(now, paused)), rejected, drift, lost}
	case RoleRestore, RoleUndo:
		return []namedReply{ok("complete", goalOf(now, complete)), rejected, lost}
	case RoleInterrupt:
		return []namedReply{ok("accepted", nil), rejected, lost}
	case RoleSteer:
		return []namedReply{ok("accepted", nil), rejected, drift, lost}
	case RoleLoad:
		return []namedReply{ok("loaded", nil), rejected, lost}
	case RoleStart:
		r := ok("accepted", nil)
		r.reply.TurnID = fmt.Sprintf("t%d", w.turns+1)
		return []namedReply{r, rejected, drift, lost, unsent}
	default: // reads; one that is lost is one that could not be read, like one refused
		reads := []namedReply{ok("as known", w.goal), ok("none", nil), ok("complete", goalOf(now, complete)),
			ok("paused", goalOf(now, paused)), ok("another", goalOf("X", active)), rejected, drift}
		if f.Role == RoleLook && !w.loaded {
			held := ok("held", w.goal)
			held.reply.Held = ErrThreadHeld
			reads = append(reads, held)
		}
		return reads
	}
}

func (w *world) announcements(add func(string, Event)) {
	update := func(name string, g *protocol.ThreadGoal) { add("goal update "+name, GoalUpdated{g}) }
	now := objective(w.goal)
	if now == "" {
		now = "A"
	}
	for _, s := range []protocol.ThreadGoalStatus{active, paused, complete} {
		update("old "+string(s), goalOf(now, s))
	}
	for _, f := range w.wire {
		if f.Role == RoleSet && f.Change.Objective != "" {
			update("new active", goalOf(f.Change.Objective, active))
		}
	}
	update("contradicting", goalOf("X", paused))
	add("goal cleared", GoalCleared{})
	if w.turn == "" {
		id := fmt.Sprintf("t%d", w.turns+1)
		add("turn started", TurnStarted{id})
		add("turn interrupted unstarted", TurnCompleted{ID: id, Status: protocol.TurnStatusInterrupted})
		return
	}
	for _, s := range []protocol.TurnStatus{protocol.TurnStatusCompleted, protocol.TurnStatusFailed, protocol.TurnStatusInterrupted} {
		add("turn "+string(s), TurnCompleted{ID: w.turn, Status: s})
	}
}

func (w *world) submissions(add func(string, Event)) {
	t := Ticket(w.tickets + 1)
	owner := w.owner
	set := Change{Kind: ChangeSet, Objective: fmt.Sprintf("N%d", t)}
	add("set", Submit{t, set, owner})
	if w.lastOwner > w.owner {
		add("set for a finished owner", Submit{t, set, w.lastOwner})
	}
	add("budget", Submit{t, Change{Kind: ChangeBudget, Budget: protocol.Some(int64(9))}, owner})
	add("close", StopAsked{Ticket: t, Final: true})
	add("edit", Submit{t, Change{Kind: ChangeEdit, Objective: fmt.Sprintf("E%d", t)}, owner})
	add("pause", Submit{t, Change{Kind: ChangePause}, owner})
	if !w.loaded {
		add("pause by force", Submit{t, Change{Kind: ChangePause, Force: true}, owner})
	}
	add("resume", Submit{t, Change{Kind: ChangeResume}, owner})
	add("clear", Submit{t, Change{Kind: ChangeClear}, owner})
	add("prompt", Prompt{t, "p"})
	add("steer", Steer{t, "s"})
	add("stop", StopAsked{Ticket: t})
}

// play takes a move and counts what it used up.
func (w world) play(step stepper, m move) (world, error) {
	switch m.event.(type) {
	case Submit, Prompt, Steer, StopAsked:
		w.tickets++
		w.left--
	case TurnStarted, TurnCompleted:
		if w.turn == "" {
			w.turns++
		}
	}
	return w.take(step, m.event)
}
