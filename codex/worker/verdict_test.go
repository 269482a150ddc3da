package worker

import (
	"testing"

	"github.com/codexctl/codexctl/codex/protocol"
)

func TestReadbackDecidesWhatItCanAndNothingMore(t *testing.T) {
	goal := func(objective string, status protocol.ThreadGoalStatus, created int64) *protocol.ThreadGoal {
		return &protocol.ThreadGoal{Objective: objective, Status: status, CreatedAt: created, UpdatedAt: 10}
	}
	later := func(g *protocol.ThreadGoal) *protocol.ThreadGoal {
		touched := *g
		touched.UpdatedAt++
		return &touched
	}
	const active, paused, complete = protocol.ThreadGoalStatusActive, protocol.ThreadGoalStatusPaused, protocol.ThreadGoalStatusComplete
	a := goal("A", active, 1)
	set := Intent{Method: "thread/goal/set", Objective: "B", Status: active, Before: a, BeforeKnown: true, At: 11_000}
	pause := Intent{Method: "thread/goal/set", Status: paused, Before: a, BeforeKnown: true, At: 11_000}
	clear := Intent{Method: "thread/goal/clear", Before: a, BeforeKnown: true, At: 11_000}
	budget := Intent{Method: "thread/goal/set", Budget: protocol.Some(int64(5)), Before: a, BeforeKnown: true, At: 11_000}
	blind := set
	blind.Before, blind.BeforeKnown = nil, false
	same := set
	same.Objective = "A"
	first := set
	first.Before = nil
	reset := clear
	reset.Then = "B"
	park := pause
	park.Then = "B"
	soon := set
	soon.At = 10_999
	undated := set
	undated.At = 0
	soonCleared := clear
	soonCleared.At = 1_999
	none := clear
	none.Before = nil

	for _, c := range []struct {
		name   string
		intent Intent
		now    *protocol.ThreadGoal
		want   Verdict
	}{
		{"the new objective is there", set, goal("B", active, 1), Delivered},
		{"the new objective is there and complete by now", set, goal("B", complete, 1), Delivered},
		{"the old objective is there", set, a, NotDelivered},
		{"the old objective is there, complete by now, so nobody can tell", set, later(goal("A", complete, 1)), Undetermined},
		{"the old objective is there, and was set again by others", set, later(a), Undetermined},
		{"the old objective is there, set again in the second it was written in", soon, a, Undetermined},
		{"the old objective is there, and when it was written is not known", undated, a, Undetermined},
		{"the old objective is there, as another goal", set, goal("A", active, 2), Undetermined},
		{"there is no goal, so it landed and was cleared, or the old one was", set, nil, Undetermined},
		{"somebody has set a third objective since", set, goal("C", active, 1), Undetermined},
		{"there was no goal and is none, so it may have been set and cleared", first, nil, Undetermined},
		{"there was no goal and it is there", first, goal("B", active, 2), Delivered},
		{"the goal before it was cleared, and it is not there", reset, nil, OnlyCleared},
		{"the goal before it is still there", reset, a, NotDelivered},
		{"the same objective was there before", same, a, Undetermined},
		{"what was there before is not known", blind, goal("B", active, 1), Undetermined},
		{"it is paused", pause, goal("A", paused, 1), Delivered},
		{"it is active as before", pause, a, NotDelivered},
		{"it is complete, so nobody can tell", pause, goal("A", complete, 1), Undetermined},
		{"it was paused for another goal, which is not there", park, goal("A", paused, 1), OnlyPaused},
		{"it was to be paused for another goal, and is active", park, a, NotDelivered},
		{"it is gone", clear, nil, Delivered},
		{"it is still there", clear, a, NotDelivered},
		{"it is still there, and was changed since", clear, later(a), NotDelivered},
		{"it may have been set again in the second of its making", soonCleared, a, Undetermined},
		{"another goal is there", clear, goal("C", active, 2), Undetermined},
		{"there was none before", none, nil, Undetermined},
		{"the budget is there", budget, &protocol.ThreadGoal{Objective: "A", Status: active, CreatedAt: 1, TokenBudget: new(int64(5)), UpdatedAt: 12}, Delivered},
		{"the budget is not there", budget, a, NotDelivered},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verdict(c.intent, c.now); got != c.want {
				t.Errorf("verdict %s, want %s", got, c.want)
			}
		})
	}
}

func TestWhatWasFoundOutIsSaidInWords(t *testing.T) {
	set := Intent{Method: "thread/goal/set", Objective: "B"}
	reset := Intent{Method: "thread/goal/clear", Then: "B"}
	for _, c := range []struct {
		r    Recovery
		want string
	}{
		{Recovery{Intent: set, Verdict: Delivered}, `thread/goal/set of "B" was under way when its owner ended; it was delivered`},
		{Recovery{Intent: set, Verdict: NotDelivered}, `thread/goal/set of "B" was under way when its owner ended; it was not delivered`},
		{Recovery{Intent: set, Verdict: Undetermined}, `thread/goal/set of "B" was under way when its owner ended; whether it was delivered cannot be told`},
		{Recovery{Intent: reset, Verdict: OnlyCleared}, `thread/goal/clear to make room for "B" was under way when its owner ended; the complete goal was cleared, the new objective was not set`},
		{Recovery{Intent: Intent{Method: "thread/goal/set", Status: "paused", Then: "B"}, Verdict: OnlyPaused}, `thread/goal/set to make room for "B" was under way when its owner ended; the stored goal was paused, the new objective was not set: resume the old one, or set the new one again`},
		{Recovery{Intent: Intent{Method: "turn/start", Text: "hello"}, Verdict: "newer"}, `turn/start of "hello" was under way when its owner ended; whether it was delivered cannot be told`},
	} {
		if got := c.r.String(); got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
}
