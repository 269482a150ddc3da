package lifecycle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContract(t *testing.T) {
	for _, c := range contract {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			load := Loaded
			if strings.Contains(c.name, "stored") {
				load = LoadNone
			}
			w := newWorld(load, 100)
			for _, name := range c.given {
				w = follow(t, Step, w, name)
			}
			w.state.GoalKnown = true
			var got []string
			recording := func(s State, e Event) (State, []Effect) {
				next, effects := Step(s, e)
				for _, effect := range effects {
					if line := describe(effect); line != "" {
						got = append(got, line)
					}
				}
				return next, effects
			}
			for _, name := range c.when {
				w = follow(t, recording, w, name)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("after %q (-want +got):\n%s", c.when, d)
			}
		})
	}
}

// describe puts an effect into the contract's words; timers are left out.
func describe(effect Effect) string {
	switch e := effect.(type) {
	case Write:
		return "write " + label(e.Frame)
	case Began:
		return fmt.Sprintf("began %d %s%s", e.Op, e.Kind, when(e.Adopted, " adopted"))
	case Became:
		return fmt.Sprintf("became %d", e.Op)
	case Ended:
		return fmt.Sprintf("ended %d %s", e.Op, e.Outcome.End)
	case Elsewhere:
		return "elsewhere"
	case Disconnect:
		return "disconnect"
	case EndRest:
		return "end rest"
	case LookBack:
		return "look back"
	case SetBack:
		return "set back " + string(e.Status)
	case Answer:
		s := fmt.Sprintf("answer %d", e.Ticket)
		if e.Op != 0 {
			s += fmt.Sprintf(" op %d", e.Op)
		}
		if e.Outcome != nil {
			s += " " + string(e.Outcome.End)
		}
		s += []string{"", " not started", " unreadable", " completed", " held"}[e.Note] + when(e.Unknown, " unknown")
		if e.Err != nil {
			s += ": " + e.Err.Error()
		}
		return s
	}
	return ""
}

func when(yes bool, s string) string {
	if yes {
		return s
	}
	return ""
}
