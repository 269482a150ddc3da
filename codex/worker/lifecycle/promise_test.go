package lifecycle

import (
	"errors"
	"fmt"
	"slices"

	"github.com/codexctl/codexctl/codex/protocol"
)

// check holds one effect against the promises.
func (w *world) check(effect Effect, lost bool) error {
	switch e := effect.(type) {
	case Write:
		return w.checkWrite(e.Frame)
	case Answer:
		return w.checkAnswer(e)
	case Began:
		if w.owner != 0 || e.Op <= w.lastOwner {
			return fmt.Errorf("operation %d began while %d owns the thread, after %d", e.Op, w.owner, w.lastOwner)
		}
		w.owner, w.lastOwner = e.Op, e.Op
	case Became:
		if e.Op != w.owner {
			return fmt.Errorf("operation %d became a goal's, and %d owns the thread", e.Op, w.owner)
		}
	case Ended:
		if e.Op != w.owner {
			return fmt.Errorf("operation %d ended, and %d owns the thread", e.Op, w.owner)
		}
		w.owner = 0
		return w.checkEnd(e.Outcome, lost)
	case SetTimer:
		if !slices.Contains(w.timers, e.Timer) {
			w.timers = append(w.timers, e.Timer)
			slices.Sort(w.timers)
		}
	case StopTimer:
		w.timers = slices.DeleteFunc(w.timers, func(t Timer) bool { return t == e.Timer })
	case Disconnect:
		if w.over {
			return errors.New("an app-server is killed that was closed, or has ended")
		}
		w.gone, w.stopLost = true, w.stopping
		w.wire, w.turn = nil, ""
	case EndRest:
		if w.resting || w.turn != "" {
			return errors.New("what turns left behind is ended twice at once, or while a turn runs")
		}
		w.resting, w.restStale = true, false
	case LookBack:
		w.lookBack = true
	case SetBack:
		return w.checkSetBack(e)
	}
	return nil
}

// checkSetBack holds what is done behind a stop without an answer against what the
// goal was read back to be.
func (w *world) checkSetBack(e SetBack) error {
	now := status(w.back.Goal)
	switch {
	case w.wasSet || w.lookBack || w.closed:
		return errors.New("the stored goal is set twice, unread, or for a worker that was closed")
	case e.Status == protocol.ThreadGoalStatusPaused && now != protocol.ThreadGoalStatusActive,
		e.Status == protocol.ThreadGoalStatusComplete && (!w.unfinished || now != protocol.ThreadGoalStatusPaused):
		return fmt.Errorf("the stored goal is %s and is set %s", now, e.Status)
	}
	w.wasSet, w.setBack = true, e.Status
	return nil
}

func (w *world) checkWrite(f Frame) error {
	switch {
	case w.gone:
		return fmt.Errorf("%s written after the connection was over", label(f))
	case slices.ContainsFunc(w.wire, func(on Frame) bool { return label(on) == label(f) }):
		return fmt.Errorf("%s written while it is on the wire", label(f))
	case f.Role == RoleStopPause && (w.stopPaused || !w.stopping):
		return errors.New("a stop's pause written twice, or without a stop")
	case f.Role == RoleStopPause && status(w.goal) == protocol.ThreadGoalStatusComplete && !w.unsure && !w.changePending():
		return errors.New("a stop pauses a goal that is known to be complete")
	case changes(f.Role) && f.Role != RoleStopPause && w.changePending():
		return fmt.Errorf("%s written while another change is on the wire", label(f))
	case f.Role == RoleInterrupt && (f.Turn == "" || f.Turn != w.turn):
		return fmt.Errorf("interrupt written for %q while %q runs", f.Turn, w.turn)
	case f.Role == RoleStart && !w.loaded:
		return errors.New("a turn was asked for on a thread that is not loaded")
	case f.Role == RoleLoad && w.loaded:
		return errors.New("a loaded thread was loaded again")
	case f.Role == RoleStart && status(w.goal) == protocol.ThreadGoalStatusActive && !w.unsure && !w.goalCallPending() && w.turn == "":
		return errors.New("a prompt was written while the goal was active")
	}
	if f.Ticket != 0 && !f.Role.Reads() || f.Role == RoleInterrupt {
		key := label(f)
		if slices.Contains(w.written, key) {
			return fmt.Errorf("%s written twice", key)
		}
		w.written = append(w.written, key)
	}
	switch f.Role {
	case RoleStopPause:
		w.stopPaused, w.sawComplete, w.restored, w.unfinished = true, false, false, false
	case RoleRestore:
		w.restored = true
	case RoleStart:
		w.ended = false
	}
	w.wire = append(w.wire, f)
	return w.checkSubmission(f)
}

// checkSubmission holds the first frame of a submission against who may write.
func (w *world) checkSubmission(f Frame) error {
	t := w.ticket(f.Ticket)
	if t == nil {
		if f.Ticket != 0 {
			return fmt.Errorf("%s written for a submission that was answered", label(f))
		}
		return nil
	}
	switch {
	case t.prompt && t.busy:
		return errors.New("a prompt was written while an operation owned the thread or its goal was active")
	case t.owner != 0 && t.owner != w.owner:
		return fmt.Errorf("a change for operation %d was written while %d owns the thread", t.owner, w.owner)
	case f.Change.Kind == ChangeSet && f.Role == RoleSet && w.justLooked(t) && status(w.goal) == protocol.ThreadGoalStatusComplete:
		return errors.New("a complete goal was replaced without a clear")
	case t.held && !f.Role.Reads() && !t.change.Force:
		return fmt.Errorf("%s written to a thread that another process has", label(f))
	case !t.sent && w.owner == 0 && f.Role != RoleLook:
		return fmt.Errorf("%s written on an idle thread without a look", label(f))
	case itsOwn(f.Role) && (t.change.owns() || t.prompt) && !w.loaded:
		return fmt.Errorf("%s written before the thread was had", label(f))
	case f.Role == RoleLoad && f.Change.Objective != "" && status(w.goal) == protocol.ThreadGoalStatusActive && !w.unsure:
		return errors.New("a thread was loaded for another objective while its goal was active")
	case f.Role == RoleSet && f.Change.Kind == ChangeEdit && w.goal == nil && !w.unsure:
		return errors.New("an edit was written where there is no goal: it would make one and start it")
	}
	for _, earlier := range w.open {
		if earlier.n < t.n && earlier.kind != 0 && t.kind != 0 && !earlier.sent {
			return fmt.Errorf("change %d overtook change %d", t.n, earlier.n)
		}
	}
	t.sent = true
	t.pending = itsOwn(f.Role) && f.Role != RoleUndo
	t.read = t.read && f.Role != RoleUndo
	return nil
}

// justLooked reports whether the change began its operation by reading the goal.
func (w *world) justLooked(t *ticket) bool { return t.sent && t.outcome == NotSent && t.owner == 0 }

// checkAnswer holds what a submitter is told against what became of its frames.
func (w *world) checkAnswer(a Answer) error {
	i := slices.IndexFunc(w.open, func(t ticket) bool { return t.n == a.Ticket })
	if i < 0 {
		return fmt.Errorf("ticket %d answered twice, or never submitted", a.Ticket)
	}
	t := w.open[i]
	w.open = slices.Delete(w.open, i, i+1)
	switch {
	case t.stop:
		return w.checkStopped(a, t)
	case a.Unknown != t.pending:
		return fmt.Errorf("ticket %d told unknown %t, and a mutation of it is on the wire %t", t.n, a.Unknown, t.pending)
	case a.Unknown:
		return nil
	case a.Err != nil && t.parked && !w.stopping && !errors.Is(a.Err, ErrOnlyPaused):
		return fmt.Errorf("ticket %d left the stored goal paused and is told %w", t.n, a.Err)
	case a.Err == nil && t.outcome != Acknowledged:
		return fmt.Errorf("ticket %d told that it was acknowledged", t.n)
	case a.Err != nil && t.outcome == Acknowledged && !errors.Is(a.Err, ErrOnlyCleared):
		return fmt.Errorf("ticket %d was acknowledged and is told %w", t.n, a.Err)
	case a.Err == nil && t.kind != 0 && (a.Note == NoteUnreadable) == t.read && a.Note != NoteCompleted:
		return fmt.Errorf("ticket %d told note %d, and its result was read %t", t.n, a.Note, t.read)
	case a.Err == nil && (t.kind == ChangeSet || t.kind == ChangeResume) && t.read && (a.Note == NoteNotStarted) == t.started:
		return fmt.Errorf("ticket %d told note %d, and the goal is active %t", t.n, a.Note, t.started)
	}
	return nil
}

func (w *world) checkStopped(a Answer, t ticket) error {
	if !slices.ContainsFunc(w.open, func(t ticket) bool { return t.stop }) {
		w.stopping = false
	}
	var told *StopError
	switch {
	case errors.As(a.Err, &told):
		return w.checkToldBack(a, told)
	case a.Err != nil && w.stopLost:
		return fmt.Errorf("a stop without an answer was told %w before the goal was read back", a.Err)
	case a.Err != nil:
		return nil
	case w.turn != "":
		return fmt.Errorf("a stop was answered while turn %s runs", w.turn)
	case w.loaded && !w.rested && (w.stoppedOp || !t.final):
		return errors.New("a stop was answered, and what the turns left behind may run")
	case status(w.goal) == protocol.ThreadGoalStatusActive && !w.unsure && (w.loaded || !t.final):
		return errors.New("a stop was answered while the goal is active")
	case w.sawComplete && !w.restored && status(w.goal) == protocol.ThreadGoalStatusPaused:
		return errors.New("a finished goal was left paused by a stop")
	}
	return nil
}

// checkToldBack holds what a stop without an answer is told against what was found.
func (w *world) checkToldBack(a Answer, told *StopError) error {
	known := w.back.Err == nil && status(w.back.Goal) != protocol.ThreadGoalStatusActive
	switch {
	case w.lookBack || w.setBack != "":
		return errors.New("a stop without an answer was told of the goal before that was read back")
	case a.GoalKnown != (w.back.Err == nil) || known != (told.Back == nil) || known == errors.Is(told, ErrStopUnknown):
		return fmt.Errorf("the stored goal is at rest %t, and the stop was told %w", known, told)
	case w.back.Err == nil && status(told.Goal) != status(w.back.Goal):
		return fmt.Errorf("the stored goal is %s, and the stop was told %s", status(w.back.Goal), status(told.Goal))
	case known && status(w.back.Goal) == protocol.ThreadGoalStatusPaused && w.sawComplete && !w.wasSet:
		return errors.New("a finished goal was left paused by a stop without an answer")
	}
	return nil
}

func (w *world) checkEnd(out Outcome, lost bool) error {
	switch {
	case lost || out.End == EndDisconnected:
		return nil
	case w.changePending() || slices.ContainsFunc(w.wire, func(f Frame) bool { return f.Role == RoleStart }):
		return fmt.Errorf("the operation ended %s while a mutation was pending", out.End)
	case w.turn != "" || w.asked && !w.stopping:
		return fmt.Errorf("the operation ended %s while a turn runs or starts", out.End)
	case status(w.goal) == protocol.ThreadGoalStatusActive && !w.unsure && out.Err == nil:
		return fmt.Errorf("the operation ended %s while the goal is active", out.End)
	}
	return nil
}

// atRest checks what must hold between two events.
func (w *world) atRest() error {
	waiting := len(w.wire) > 0 || w.turn != "" || w.asked || w.resting || len(w.timers) > 0
	switch {
	case w.gone && (w.lookBack || w.setBack != ""):
		return w.waitsForBack()
	case w.gone && len(w.open) > 0:
		return fmt.Errorf("the connection is over and ticket %d has no answer", w.open[0].n)
	case w.gone && len(w.timers) > 0:
		return errors.New("the connection is over and a timer runs")
	case w.gone && w.owner != 0:
		return errors.New("the connection is over and an operation goes on")
	case w.gone:
		return nil
	case w.turn != "" && w.owner == 0:
		return fmt.Errorf("turn %s runs without an owner", w.turn)
	case len(w.open) > 0 && !waiting:
		return fmt.Errorf("ticket %d waits for nothing", w.open[0].n)
	case w.owner != 0 && !waiting:
		return errors.New("the operation waits for nothing")
	case w.stopping && !slices.ContainsFunc(w.timers, func(t Timer) bool { return t != TimerStall }):
		return errors.New("a stop is under way without a timer")
	case w.stopping && w.turn != "" && !w.goalCallPending() && !slices.Contains(w.written, label(Frame{Role: RoleInterrupt, Turn: w.turn})):
		return fmt.Errorf("a stop lets turn %s run", w.turn)
	}
	return nil
}

// waitsForBack checks that only stops wait for what is read back.
func (w *world) waitsForBack() error {
	if len(w.timers) > 0 {
		return errors.New("the connection is over and a timer runs")
	}
	for _, t := range w.open {
		if !t.stop {
			return fmt.Errorf("the connection is over and ticket %d has no answer", t.n)
		}
	}
	return nil
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
	RolePark: "park", RoleUnpark: "unpark", RoleStopPause: "stop-pause", RoleStopLook: "stop-look", RoleRestore: "restore",
	RoleInterrupt: "interrupt", RoleLoad: "load", RoleStart: "turn-start", RoleSteer: "steer",
}
