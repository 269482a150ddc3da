package worker_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/worker"
)

// The app-server is killed some time after a replacement was written. Whatever the
// caller was told, the next worker must say what really became of it.
func TestAKilledAppServerLeavesAnOutcomeThatReadbackConfirms(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 1, 2, 5, 10, 20, 50, 100} {
		after *= time.Millisecond
		told := map[string]int{}
		for range *kills {
			told[killAfter(t, after)]++
		}
		row(t, fmt.Sprintf("kill -9 of app-server %v after the write", after), *kills, fmt.Sprint(told))
	}
}

func killAfter(t *testing.T, after time.Duration) (told string) {
	gate := codextest.NewGate()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Working"), gate}))
	defer gate.Open()
	tap := &wiretap{}
	d.opts.Codex.Trace = tap
	d.open()
	w := d.worker()
	op := d.set(w, "the old objective").Operation
	d.reached(gate)
	pid := w.Client().Server().Process.PID
	tap.notify(func(f frame) {
		if f.Params.Objective == "the new objective" {
			time.AfterFunc(after, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		}
	})
	_, err := w.SetGoal(d.ctx, worker.GoalSpec{Objective: "the new objective"})
	d.wantEnd(d.wait(op), worker.EndDisconnected, "active")
	<-w.Done()

	next := d.worker()
	goal, readErr := next.Goal(d.ctx)
	if readErr != nil || goal == nil {
		t.Fatalf("read back: %+v, %v", goal, readErr)
	}
	if n := tap.count("thread/goal/set", "the new objective"); n != 1 {
		t.Errorf("the change was written %d times", n)
	}
	d.confirm(err, next.Recovered(), goal.Objective == "the new objective")
	if err == nil {
		return "acknowledged"
	}
	return "unknown, " + string(next.Recovered()[0].Verdict)
}

// confirm holds what callers were told against what really happened.
func (d *desk) confirm(err error, recovered []worker.Recovery, landed bool) {
	d.Helper()
	want := worker.NotDelivered
	if landed {
		want = worker.Delivered
	}
	var delivery *codex.DeliveryError
	switch {
	case err == nil && !landed:
		d.Error("acknowledged, and not there")
	case err == nil && len(recovered) != 0:
		d.Errorf("acknowledged, and recovered again: %+v", recovered)
	case err == nil:
	case !errors.As(err, &delivery) || delivery.Delivery != codex.Unknown:
		d.Errorf("the caller was told %v, want an unknown delivery", err)
	case len(recovered) != 1 || recovered[0].Verdict != want:
		d.Errorf("recovered %+v, want one intent %s", recovered, want)
	}
}
