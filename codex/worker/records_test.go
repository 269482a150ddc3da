package worker

import (
	"testing"

	"github.com/codexctl/codexctl/codex/journal"
	"github.com/codexctl/codexctl/codex/protocol"
)

func historyOf(t *testing.T, records ...any) *history {
	t.Helper()
	h := newHistory()
	for i := 0; i < len(records); i += 2 {
		r, err := journal.New(records[i].(string), records[i+1])
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func TestAClearThatMadeRoomStaysOpenUntilItsGoalIsWritten(t *testing.T) {
	clear := Intent{ID: 1, Thread: "T", Method: "thread/goal/clear", Then: "B"}
	acknowledged := outcomeRecord{Intent: 1, Delivery: "acknowledged"}
	h := historyOf(t, recordIntent, clear, recordOutcome, acknowledged)
	if h.Cleared == nil || h.Cleared.Then != "B" || !h.Durable["T"] {
		t.Errorf("an owner that died between the two left %+v", h)
	}
	h = historyOf(t, recordIntent, clear, recordOutcome, acknowledged, recordIntent, Intent{ID: 2, Thread: "T", Objective: "B"})
	if h.Cleared != nil || len(h.Open) != 1 || h.open()[0].ID != 2 {
		t.Errorf("once the goal is written it is open by itself: %+v", h)
	}
}

func TestAPauseThatMadeRoomStaysOpenUntilItsGoalIsWritten(t *testing.T) {
	before := &protocol.ThreadGoal{Objective: "A", Status: protocol.ThreadGoalStatusActive}
	park := Intent{ID: 1, Thread: "T", Method: "thread/goal/set", Status: protocol.ThreadGoalStatusPaused, Then: "B", Before: before, BeforeKnown: true}
	acknowledged := outcomeRecord{Intent: 1, Delivery: "acknowledged"}
	h := historyOf(t, recordIntent, park, recordOutcome, acknowledged)
	if h.Cleared == nil || h.Cleared.Then != "B" || verdict(*h.Cleared, &protocol.ThreadGoal{Objective: "A", Status: protocol.ThreadGoalStatusPaused}) != OnlyPaused {
		t.Errorf("an owner that died between the two left %+v", h.Cleared)
	}
	// A refused load: it is set active again, which closes the matter.
	own := Intent{ID: 2, Thread: "T", Own: true, Method: "thread/goal/set", Status: protocol.ThreadGoalStatusActive}
	h = historyOf(t, recordIntent, park, recordOutcome, acknowledged, recordIntent, own, recordOutcome, outcomeRecord{Intent: 2, Delivery: "acknowledged"})
	if h.Cleared != nil || len(h.Open) != 0 {
		t.Errorf("once the old goal is active again: %+v, open %+v", h.Cleared, h.Open)
	}
}

func TestWhatWasFoundOutIsToldAgainUntilACallerGoesOn(t *testing.T) {
	lost := Intent{ID: 1, Thread: "T", Method: "thread/goal/set", Objective: "B"}
	found := recoveredRecord{Intent: 1, Verdict: Delivered}
	own := Intent{ID: 2, Thread: "T", Own: true}
	h := historyOf(t, recordIntent, lost, recordRecovered, found, recordIntent, own)
	if len(h.Recovered) != 1 || h.Recovered[0].Verdict != Delivered || h.Recovered[0].Intent.Objective != "B" || len(h.Open) != 1 {
		t.Errorf("recovered %+v, open %+v", h.Recovered, h.Open)
	}
	h = historyOf(t, recordIntent, lost, recordRecovered, found, recordIntent, Intent{ID: 2, Thread: "T"})
	if len(h.Recovered) != 0 {
		t.Errorf("told again after a caller's own mutation: %+v", h.Recovered)
	}
}
