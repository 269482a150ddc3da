package worker_test

import (
	"testing"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/worker"
)

func TestASteerWithoutAnAnswerEndsNothing(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, codextest.On("turn/steer").Silence(),
		codextest.On("thread/goal/set").Nth(2).Answer(fakeGoal("A", "paused")).Notify("turn/completed", turnNotice("t1", "completed")))
	if err := f.worker.Steer(f.ctx, "in French"); codex.DeliveryOf(err) != codex.Unknown {
		t.Errorf("the steerer was told %v", err)
	}
	if f.worker.Err() != nil || f.worker.Status().Operation != f.op {
		t.Errorf("the run is over: %v", f.worker.Err())
	}
	if _, err := f.worker.PauseGoal(f.ctx, worker.PauseSpec{}); err != nil {
		t.Error(err)
	}
	if out, err := f.op.Wait(f.ctx); err != nil || out.End != worker.EndPaused {
		t.Errorf("the operation ended %+v, %v", out, err)
	}
	if n := len(f.peer.Received("turn/steer")); n != 1 {
		t.Errorf("the steer was written %d times", n)
	}
}
