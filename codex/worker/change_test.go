package worker_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

func TestAChangeForAnOperationThatHasEndedIsNotSent(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, codextest.On("thread/goal/set").Nth(2).
		Notify("turn/completed", turnNotice("t1", "completed")).Answer(fakeGoal("A", "paused")))
	if _, err := f.worker.PauseGoal(f.ctx, worker.PauseSpec{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.op.Wait(f.ctx); err != nil {
		t.Fatal(err)
	}
	// The worker is idle now: without the operation it is for, each would begin work.
	other := newFaulty(t)
	for _, seen := range []*worker.Operation{f.op, other.op} {
		spec := worker.GoalSpec{Objective: "B", For: seen}
		_, set := f.worker.SetGoal(f.ctx, spec)
		_, edit := f.worker.EditGoal(f.ctx, spec)
		_, resume := f.worker.ResumeGoal(f.ctx, spec)
		for _, err := range []error{set, edit, resume} {
			if !errors.Is(err, worker.ErrOwnerFinished) {
				t.Errorf("told %v, want that its operation has finished", err)
			}
		}
	}
	f.wantFrames(1) // the pause
}

func TestAChangeOfTextAndBudgetIsOneFrame(t *testing.T) {
	t.Parallel()
	f := newFaulty(t,
		codextest.On("thread/goal/set").Nth(2).Refuse(-32600, "not now"),
		codextest.On("thread/goal/set").Nth(3).Answer(fakeGoal("B", "active")))
	spec := worker.GoalSpec{Objective: "B", Budget: protocol.Some(int64(7))}
	var refused *codex.RPCError
	if _, err := f.worker.EditGoal(f.ctx, spec); !errors.As(err, &refused) {
		t.Errorf("a refused edit: %v", err)
	}
	if _, err := f.worker.ResumeGoal(f.ctx, spec); err != nil {
		t.Error(err)
	}
	f.wantFrames(2)
	for _, frame := range f.peer.Received("thread/goal/set")[1:] {
		var params struct {
			Objective   string `json:"objective"`
			TokenBudget int64  `json:"tokenBudget"`
		}
		if err := json.Unmarshal(frame.Params, &params); err != nil || params.Objective != "B" || params.TokenBudget != 7 {
			t.Errorf("sent %s, %v", frame.Params, err)
		}
	}
}
