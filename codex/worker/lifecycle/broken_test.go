package lifecycle

import (
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
}

// An exploration that finds nothing proves nothing unless it finds these.
func TestEveryBrokenCoreIsCaught(t *testing.T) {
	for _, b := range broken {
		t.Run(strings.ReplaceAll(b.name, " ", "-"), func(t *testing.T) {
			r := explore(b.step, allStarts(t, Step), 5)
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
