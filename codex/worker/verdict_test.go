package worker

import (
	"testing"

	"github.com/codexctl/codexctl/codex/protocol"
)

func TestReadbackDecidesWhatItCanAndNothingMore(t *testing.T) {
	goal := func(objective string, status protocol.ThreadGoalStatus, created int64) *protocol.ThreadGoal {
		return &protocol.ThreadGoal{Objective: objective, Status: status, CreatedAt: created}
	}
	const active, paused, complete = protocol.ThreadGoalStatusActive, protocol.ThreadGoalStatusPaused, protocol.ThreadGoalStatusComplete
	a := goal("A", active, 1)
	set := Intent{Method: "thread/goal/set", Objective: "B", Status: active, Before: a, BeforeKnown: true}
	pause := Intent{Method: "thread/goal/set", Status: paused, Before: a, BeforeKnown: true}
	clear := Intent{Method: "thread/goal/clear", Before: a, BeforeKnown: true}
	budget := Intent{Method: "thread/goal/set", Budget: protocol.Some(int64(5)), Before: a, BeforeKnown: true}
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
		{"the old objective is there, complete by now", set, goal("A", complete, 1), NotDelivered},
		{"there is no goal, so it landed and was cleared, or the old one was", set, nil, Undetermined},
		{"somebody has set a third objective since", set, goal("C", active, 1), Undetermined},
		{"there was no goal and is none", first, nil, NotDelivered},
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
		{"another goal is there", clear, goal("C", active, 2), Undetermined},
		{"there was none before", none, nil, Undetermined},
		{"the budget is there", budget, &protocol.ThreadGoal{Objective: "A", Status: active, CreatedAt: 1, TokenBudget: new(int64(5))}, Delivered},
		{"the budget is not there", budget, a, NotDelivered},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verdict(c.intent, c.now); got != c.want {
				t.Errorf("verdict %s, want %s", got, c.want)
			}
		})
	}
}
