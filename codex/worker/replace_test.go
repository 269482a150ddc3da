package worker_test

import (
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

func TestReplacedObjectiveIsHeardByTheRunningTurnAndOneOperationSpansBoth(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.Text("Working on"), gate, codextest.Text(" the first.")},
		codextest.Reply{codextest.Text("Turning to the second.")},
		codextest.Reply{codextest.UpdateGoal("complete")},
		codextest.Reply{codextest.Text("Done.")},
	))
	w := d.worker()
	first := d.set(w, "the first objective")
	d.reached(gate)
	turn := w.Status().Turn
	second := d.set(w, "  the second objective ")
	gate.Open()
	if second.Operation != first.Operation || second.Goal.Objective != "the second objective" {
		t.Errorf("replaced in %v with %q", second.Operation, second.Goal.Objective)
	}
	out := d.wait(first.Operation)
	d.wantEnd(out, worker.EndComplete, protocol.ThreadGoalStatusComplete)
	if out.Turn == nil || out.Turn.Answer != "Done." {
		t.Errorf("last turn %+v", out.Turn)
	}
	heard := d.model.Heard("the second objective")
	if len(heard) == 0 || heard[0].Turn != turn {
		t.Errorf("the new objective was heard first in %v, want turn %s", heard, turn)
	}
}
