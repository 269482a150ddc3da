package lifecycle

import (
	"slices"
	"strings"
	"testing"
)

// Each of these cores breaks one promise, as a client without this package would.
var broken = []struct {
	name string
	step stepper
}{
	{"lets an operation end while a change is pending", noHold},
	{"trusts a goal update older than the reply", trustsOldUpdate},
	{"writes a change again when its delivery is unknown", replays},
	{"forgets a stop while a change is pending", forgetsStop},
	{"pauses a goal that is complete", pausesComplete},
	{"waits for an interrupted turn without a bound", waitsForever},
	{"kills what is closed", killsClosed},
	{"lets run what turns left behind", leavesRest},
	{"answers a stop before the goal was read back", dropping(func(e Effect) bool { _, ok := e.(LookBack); return ok })},
	{"believes that a goal was paused", believesBack},
	{"stops without an interrupt", dropping(func(e Effect) bool { return writes(e, RoleInterrupt) })},
	{"pauses twice for one stop", doubling(func(e Effect) bool { return writes(e, RoleStopPause) })},
	{"ends an operation twice", doubling(func(e Effect) bool { _, ok := e.(Ended); return ok })},
	{"begins an operation silently", dropping(func(e Effect) bool { _, ok := e.(Began); return ok })},
	{"calls an unknown delivery not sent", changing(func(a *Answer) { a.Unknown = false })},
	{"says nothing of work that did not start", changing(func(a *Answer) { a.Note = NoteNone })},
	{"ignores which operation a change is for", ignoresOwner},
	{"lets a prompt in while an operation runs", promptsAnyway},
	{"lets a turn run without an owner", disowns},
	{"lets a later change overtake", overtakes},
	{"replaces a complete goal without a clear", skipsReset},
	{"edits where there is no goal", editsNothing},
	{"writes to a thread that another process has", ignoresHolder},
	{"sets a goal before it has the thread", setsUnloaded},
	{"loads an active goal for another objective", skipsPark},
	{"leaves the goal paused when the load is refused", staysParked},
	{"ends the run when a steer has no answer", endsForSteer},
	{"begins a prompt without a look", promptsBlindly},
	{"changes the goal of an idle thread without a look", changesBlindly},
}

// An exploration that finds nothing proves nothing unless it finds these.
func TestEveryBrokenCoreIsCaught(t *testing.T) {
	for _, b := range broken {
		t.Run(strings.ReplaceAll(b.name, " ", "-"), func(t *testing.T) {
			r := explore(b.step, allStarts(t, 2), 4)
			if r.broken == nil {
				t.Fatalf("not caught in %d states", r.states)
			}
			t.Logf("%v after\n  %s", r.broken, strings.Join(r.trace, "\n  "))
		})
	}
}

func noHold(s State, e Event) (State, []Effect) {
	if _, ok := e.(TurnCompleted); !ok || s.Lane == nil || s.Stop != nil {
		return Step(s, e)
	}
	lane := s.Lane
	s.Lane = nil
	next, effects := Step(s, e)
	if next.Op == nil {
		next.Lane = lane
		return next, effects
	}
	s.Lane = lane
	return Step(s, e)
}

func trustsOldUpdate(s State, e Event) (State, []Effect) {
	r, ok := e.(Replied)
	if !ok || r.Frame.Role != RoleSet || r.Reply.Delivery != Acknowledged || s.Goal == nil || s.Stop != nil {
		return Step(s, e)
	}
	r.Reply.Goal = s.Goal // what a notification said last, in place of the reply
	return Step(s, r)
}

func replays(s State, e Event) (State, []Effect) {
	next, effects := Step(s, e)
	if r, ok := e.(Replied); ok && r.Reply.Delivery == Unknown && r.Frame.Role == RoleSet {
		effects = append(effects, Write{r.Frame})
	}
	return next, effects
}

func forgetsStop(s State, e Event) (State, []Effect) {
	next, effects := Step(s, e)
	if _, ok := e.(Replied); ok && s.Stop != nil && s.Lane != nil && next.Lane == nil {
		next.Stop = nil
	}
	return next, effects
}

func pausesComplete(s State, e Event) (State, []Effect) {
	if _, ok := e.(StopAsked); ok && s.Goal != nil {
		s.Goal = goalOf(s.Goal.Objective, active)
	}
	return Step(s, e)
}

func waitsForever(s State, e Event) (State, []Effect) {
	next, effects := Step(s, e)
	if r, ok := e.(Replied); ok && r.Frame.Role == RoleStopLook && next.Stop != nil && next.Stop.Step == StopOnTurn && s.Stop.Interrupted == s.Turn.ID {
		next.Stop.Step = StopBegun
		effects = slices.DeleteFunc(effects, func(e Effect) bool { return e == SetTimer{TimerTurn} })
	}
	return next, effects
}

func leavesRest(s State, e Event) (State, []Effect) {
	next, effects := Step(s, e)
	if i := slices.Index(effects, Effect(EndRest{})); i >= 0 {
		after, more := Step(next, RestEnded{})
		return after, append(slices.Delete(effects, i, i+1), more...)
	}
	return next, effects
}

func killsClosed(s State, e Event) (State, []Effect) {
	next, effects := Step(s, e)
	if d, ok := e.(Disconnected); ok && !s.Gone {
		effects = append(effects, Disconnect{d.Err})
	}
	return next, effects
}

func believesBack(s State, e Event) (State, []Effect) {
	if back, ok := e.(LookedBack); ok && s.Stop != nil && s.Stop.SetBack && status(back.Goal) == active {
		back.Goal = goalOf(back.Goal.Objective, paused)
		return Step(s, back)
	}
	return Step(s, e)
}

func writes(e Effect, role Role) bool {
	w, ok := e.(Write)
	return ok && w.Frame.Role == role
}

func dropping(which func(Effect) bool) stepper {
	return func(s State, e Event) (State, []Effect) {
		next, effects := Step(s, e)
		return next, slices.DeleteFunc(effects, which)
	}
}

func doubling(which func(Effect) bool) stepper {
	return func(s State, e Event) (State, []Effect) {
		next, effects := Step(s, e)
		if i := slices.IndexFunc(effects, which); i >= 0 {
			effects = append(effects, effects[i])
		}
		return next, effects
	}
}

func changing(how func(*Answer)) stepper {
	return func(s State, e Event) (State, []Effect) {
		next, effects := Step(s, e)
		for i, effect := range effects {
			if a, ok := effect.(Answer); ok {
				how(&a)
				effects[i] = a
			}
		}
		return next, effects
	}
}

func ignoresOwner(s State, e Event) (State, []Effect) {
	if submit, ok := e.(Submit); ok {
		submit.Owner = 0
		return Step(s, submit)
	}
	return Step(s, e)
}

func promptsAnyway(s State, e Event) (State, []Effect) {
	if p, ok := e.(Prompt); ok && s.Op != nil && s.Start == 0 && s.Load == Loaded {
		s.Start = p.Ticket
		return s, []Effect{Write{Frame{Role: RoleStart, Ticket: p.Ticket}}}
	}
	return Step(s, e)
}

func disowns(s State, e Event) (State, []Effect) {
	if t, ok := e.(TurnStarted); ok && s.Op == nil {
		s.Turn = Turn{ID: t.ID, Phase: TurnRunning}
		return s, nil
	}
	return Step(s, e)
}

func overtakes(s State, e Event) (State, []Effect) {
	s.Waiting = slices.Clone(s.Waiting)
	slices.Reverse(s.Waiting)
	return Step(s, e)
}

func skipsReset(s State, e Event) (State, []Effect) {
	r, ok := e.(Replied)
	if !ok || r.Frame.Role != RoleLook || status(r.Reply.Goal) != complete {
		return Step(s, e)
	}
	seen := r.Reply.Goal
	r.Reply.Goal = goalOf(seen.Objective, paused)
	next, effects := Step(s, r)
	next.Goal = seen
	return next, effects
}

func editsNothing(s State, e Event) (State, []Effect) {
	r, ok := e.(Replied)
	if ok && r.Frame.Role == RoleLook && r.Frame.Change.Kind == ChangeEdit && r.Reply.Goal == nil {
		r.Reply.Goal = goalOf("ghost", paused)
		return Step(s, r)
	}
	return Step(s, e)
}

// asIf takes the reply to a look for another one, and the state for another state.
func asIf(seen func(*State, *Reply), after func(*State)) stepper {
	return func(s State, e Event) (State, []Effect) {
		r, ok := e.(Replied)
		if !ok || r.Frame.Role != RoleLook || r.Reply.Delivery != Acknowledged || r.Reply.Drift || s.Load != LoadNone {
			return Step(s, e)
		}
		seen(&s, &r.Reply)
		next, effects := Step(s, r)
		after(&next)
		return next, effects
	}
}

var ignoresHolder = asIf(func(_ *State, r *Reply) { r.Held = nil }, func(*State) {})

var setsUnloaded = asIf(func(s *State, _ *Reply) { s.Load = Loaded }, func(s *State) { s.Load = LoadNone })

func skipsPark(s State, e Event) (State, []Effect) {
	next, effects := Step(s, e)
	for i, effect := range effects {
		if w, ok := effect.(Write); ok && w.Frame.Role == RolePark {
			w.Frame.Role = RoleLoad
			effects[i] = w
			lane := *next.Lane
			lane.Role = RoleLoad
			next.Lane, next.Load = &lane, LoadOnWire
		}
	}
	return next, effects
}

func staysParked(s State, e Event) (State, []Effect) {
	if r, ok := e.(Replied); ok && r.Frame.Role == RoleLoad && s.Lane != nil && s.Lane.Parked {
		lane := *s.Lane
		lane.Parked = false
		s.Lane = &lane
	}
	return Step(s, e)
}

func endsForSteer(s State, e Event) (State, []Effect) {
	next, effects := Step(s, e)
	if r, ok := e.(Replied); ok && r.Frame.Role == RoleSteer && r.Reply.Delivery == Unknown && next.Op != nil {
		effects = append(effects, Ended{Op: next.Op.ID, Outcome: Outcome{End: EndDisconnected}})
		next.Op = nil
	}
	return next, effects
}

func promptsBlindly(s State, e Event) (State, []Effect) {
	p, ok := e.(Prompt)
	if !ok || s.Op != nil || s.Stop != nil || s.Lane != nil || s.Load != Loaded {
		return Step(s, e)
	}
	s.Started++
	s.Op, s.Start = &Operation{ID: s.Started, Kind: KindPrompt, Fresh: true}, p.Ticket
	return s, []Effect{Began{Op: s.Started, Kind: KindPrompt}, Write{Frame{Role: RoleStart, Ticket: p.Ticket}}}
}

func changesBlindly(s State, e Event) (State, []Effect) {
	change, ok := e.(Submit)
	if !ok || change.Change.owns() || s.Op != nil || s.Stop != nil || s.Lane != nil {
		return Step(s, e)
	}
	sub := Submission{Ticket: change.Ticket, Change: change.Change}
	s.Lane = &Call{Submission: sub, Role: RoleSet}
	return s, []Effect{Write{Frame{Role: RoleSet, Ticket: sub.Ticket, Change: sub.Change}}}
}
