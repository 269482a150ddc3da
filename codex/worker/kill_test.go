package worker_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

const (
	oldObjective = "the old objective"
	newObjective = "the new objective"
)

// scene is a Codex home in which processes are killed, with an app-server that has
// no part in it and reads what is stored.
type scene struct {
	ctx    context.Context
	model  *codextest.Model
	home   *codextest.Home
	reader *codex.Client
}

func newScene(t *testing.T) *scene {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute+time.Duration(*kills)*time.Minute)
	t.Cleanup(cancel)
	// The answer never ends: its turn runs until the app-server does.
	model := codextest.StartModel(t, codextest.Always(codextest.Reply{codextest.Text("Working"), codextest.NewGate()}))
	s := &scene{ctx: ctx, model: model, home: codextest.TempHome(t, model, codextest.HomeOptions{})}
	// 0.160.1 lays out its databases on the first start in a home, and a start beside
	// that fails: the reader is first, and alone.
	reader, err := codex.Start(ctx, codex.Options{Path: codextest.Binary(t), Env: s.home.Env()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	s.reader = reader
	return s
}

// stored is the objective of a thread as Codex has stored it.
func (s *scene) stored(t *testing.T, thread string) string {
	t.Helper()
	r, err := codex.Call(s.ctx, s.reader, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: thread})
	if err != nil || r.Goal == nil {
		t.Fatalf("read the goal of %s: %+v, %v", thread, r.Goal, err)
	}
	if o := r.Goal.Objective; o != oldObjective && o != newObjective {
		t.Fatalf("the stored objective is %q", o)
	}
	return r.Goal.Objective
}

// repeat has kill happen as often as the kill matrix wants, at one moment, and
// prints what callers were told.
func (s *scene) repeat(t *testing.T, moment string, kill func(*desk) (told string)) {
	t.Run(moment, func(t *testing.T) {
		t.Parallel()
		told := map[string]int{}
		for i := range *kills {
			t.Run(fmt.Sprint(i+1), func(t *testing.T) {
				what := kill(newDeskIn(t, s.ctx, s.model, s.home))
				told[what]++
				record(t, []string{"kill", moment, what})
			})
		}
		var counts []string
		for _, what := range slices.Sorted(maps.Keys(told)) {
			counts = append(counts, fmt.Sprintf("%s %d", what, told[what]))
		}
		row(t, "kill -9 of "+moment, *kills, strings.Join(counts, ", "))
	})
}

// The app-server is killed some time after a replacement was written. Whatever the
// caller was told, the next worker must say what really became of it.
func TestAKilledAppServerLeavesAnOutcomeThatReadbackConfirms(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, after := range []time.Duration{0, 1, 2, 5, 10, 20, 50, 100} {
		after *= time.Millisecond
		s.repeat(t, fmt.Sprintf("the app-server, %v after the write", after), func(d *desk) string {
			return s.killServer(d, after)
		})
	}
}

func (s *scene) killServer(d *desk, after time.Duration) (told string) {
	d.Helper()
	tap := &wiretap{}
	d.opts.Codex.Trace = tap
	d.open()
	w := d.worker()
	op := d.set(w, oldObjective).Operation
	if _, err := d.model.WaitRequest(d.ctx, func(r codextest.Request) bool { return r.Thread == w.Thread() }); err != nil {
		d.Fatal(err)
	}
	pid := w.Client().Server().Process.PID
	tap.notify(func(f frame) {
		if f.Params.Objective == newObjective {
			time.AfterFunc(after, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		}
	})
	_, err := w.SetGoal(d.ctx, worker.GoalSpec{Objective: newObjective})
	d.wantEnd(d.wait(op), worker.EndDisconnected, "active")
	<-w.Done()

	next, landed := s.recovered(d)
	if n := tap.count("thread/goal/set", newObjective); n != 1 {
		d.Errorf("the change was written %d times", n)
	}
	var delivery *codex.DeliveryError
	switch {
	case err == nil && !landed:
		d.Error("acknowledged, and not there")
	case err == nil && len(next) != 0:
		d.Errorf("acknowledged, and recovered again: %+v", next)
	case err == nil:
		return "acknowledged"
	case !errors.As(err, &delivery) || delivery.Delivery != codex.Unknown:
		d.Errorf("the caller was told %v, want an unknown delivery", err)
	}
	return "unknown, then " + d.confirm(next, landed)
}

// recovered has a next worker find out what became of the desk's change, and reports
// whether it is there. The worker has ended when it returns, and its trace is whole.
func (s *scene) recovered(d *desk) (found []worker.Recovery, landed bool) {
	d.Helper()
	next := d.worker()
	stored := s.stored(d.T, next.Thread())
	goal, err := next.Goal(d.ctx)
	if err != nil || goal == nil || goal.Objective != stored {
		d.Errorf("the next worker reads %+v, %v, and another process %q", goal, err, stored)
	}
	found = next.Recovered()
	d.close()
	return found, stored == newObjective
}

// confirm holds the one verdict against what really happened. Undetermined claims
// nothing, so that only its number says how good the verdicts are.
func (d *desk) confirm(found []worker.Recovery, landed bool) (told string) {
	d.Helper()
	if len(found) != 1 {
		d.Errorf("recovered %+v, want one intent", found)
		return "nothing"
	}
	verdict := found[0].Verdict
	switch verdict {
	case worker.Undetermined:
	case worker.Delivered, worker.NotDelivered:
		if landed != (verdict == worker.Delivered) {
			d.Errorf("verdict %s, landed %t", verdict, landed)
		}
	default:
		d.Errorf("verdict %s of a replacement", verdict)
	}
	return string(verdict)
}
