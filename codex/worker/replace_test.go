package worker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

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

// goalReplacements bounds the replacements of one goal. Codex sends the whole
// history with each request, so that a long one measures that and not the goal.
const goalReplacements = 100

// edges are where a replacement is written. Each waits for its own and returns the
// turn that the edge is of.
var edges = []struct {
	name     string
	previous bool // distances count from the end of the turn before
	wait     func(*desk, *worker.Worker) string
}{
	{"behind a turn's end", false, func(d *desk, w *worker.Worker) string {
		return happens[*protocol.TurnCompletedNotification](d, w, nil).Turn.ID
	}},
	{"behind a turn's last item", false, func(d *desk, w *worker.Worker) string {
		return happens(d, w, func(n *protocol.ItemCompletedNotification) bool {
			_, message := n.Item.Arm.(*protocol.ThreadItemAgentMessage)
			return message
		}).TurnID
	}},
	{"behind a turn's start", true, func(d *desk, w *worker.Worker) string {
		return happens[*protocol.TurnStartedNotification](d, w, nil).Turn.ID
	}},
}

func TestLiveReplacementsAtTurnEndsAreNeverLostNorSentTwice(t *testing.T) {
	t.Parallel()
	for _, end := range []worker.End{worker.EndComplete, worker.EndStopped} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			from := map[string][]time.Duration{} // by edge
			for left := *replacements; left > 0; left -= goalReplacements {
				n := min(left, goalReplacements)
				t.Run(fmt.Sprintf("%d left", left), func(t *testing.T) { replaceLive(t, n, end, from) })
			}
			for _, edge := range edges {
				row(t, fmt.Sprintf("live replacements %s, goals %s", edge.name, end), len(from[edge.name]), distances(from[edge.name]))
			}
		})
	}
}

// replaceLive replaces one goal's objective n times and ends the goal. It adds how
// far from a turn's end each was written.
func replaceLive(t *testing.T, n int, end worker.End, from map[string][]time.Duration) {
	d := newDesk(t, working())
	tap := &wiretap{}
	d.opts.Codex.Trace = tap
	d.open()
	w := d.worker()
	op := d.set(w, "objective 0").Operation
	turns := make([]string, n)
	for i := range n {
		objective := fmt.Sprintf("objective %d", i+1)
		turns[i] = edges[i%len(edges)].wait(d, w)
		c := d.set(w, objective)
		if c.Operation != op || c.Goal.Objective != objective || c.Note != "" {
			t.Fatalf("replacement %d: operation %v, goal %q, note %q", i, c.Operation, c.Goal.Objective, c.Note)
		}
		d.hears(objective)
	}
	if end == worker.EndStopped {
		if _, err := w.Stop(d.ctx); err != nil {
			t.Fatal(err)
		}
		d.wantEnd(d.wait(op), end, protocol.ThreadGoalStatusPaused)
		d.quiet(w, end, protocol.ThreadGoalStatusPaused)
	} else {
		d.set(w, "the last objective")
		d.wantEnd(d.wait(op), end, protocol.ThreadGoalStatusComplete)
	}
	d.close() // the trace is whole
	var lines [][]string
	for i, turn := range turns {
		objective, edge := fmt.Sprintf("objective %d", i+1), edges[i%len(edges)]
		if n := tap.count("thread/goal/set", objective); n != 1 {
			t.Errorf("%s was written %d times", objective, n)
		}
		at, written := tap.written(objective)
		ended, known := tap.end(turn, edge.previous)
		if !written || !known {
			t.Fatalf("%s: written %t, the end of turn %s read %t", objective, written, turn, known)
		}
		from[edge.name] = append(from[edge.name], at.Sub(ended))
		lines = append(lines, []string{"replacement", edge.name, string(end), fmt.Sprintf("%.3f", at.Sub(ended).Seconds()*1000)})
	}
	if n := tap.count("turn/start", ""); n != 0 {
		t.Errorf("%d turns were started by us", n)
	}
	record(t, lines...)
}

// hears waits until the model is told an objective, for much longer than that takes.
func (d *desk) hears(objective string) {
	d.Helper()
	ctx, cancel := context.WithTimeoutCause(d.ctx, time.Minute, errors.New("a minute is over"))
	defer cancel()
	if _, err := d.model.WaitObjective(ctx, objective); err != nil {
		d.Fatalf("%s was acknowledged and not heard: %v", objective, err)
	}
}
