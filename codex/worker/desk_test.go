package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// desk is a real Codex with a scripted model, and a manager to work it.
type desk struct {
	*testing.T
	ctx     context.Context
	model   *codextest.Model
	home    *codextest.Home
	state   string
	dir     string
	opts    worker.Options
	manager *worker.Manager
}

func newDesk(t *testing.T, script codextest.Script) *desk {
	t.Helper()
	bound := 90*time.Second + time.Duration(*replacements+*boundaries)*10*time.Second
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	t.Cleanup(cancel)
	model := codextest.StartModel(t, script)
	return newDeskIn(t, ctx, model, codextest.TempHome(t, model, codextest.HomeOptions{}))
}

// newDeskIn is a desk of its own in a home that others share.
func newDeskIn(t *testing.T, ctx context.Context, model *codextest.Model, home *codextest.Home) *desk {
	t.Helper()
	d := &desk{T: t, ctx: ctx, model: model, home: home, state: t.TempDir(), dir: t.TempDir()}
	d.opts = worker.Options{
		StateDir: d.state + "/state",
		Codex:    codex.Options{Path: codextest.Binary(t), Env: d.home.Env()},
	}
	d.open()
	return d
}

// open makes a manager; the last one must have been closed.
func (d *desk) open() {
	d.Helper()
	m, err := worker.NewManager(d.opts)
	if err != nil {
		d.Fatal(err)
	}
	d.manager = m
	d.Cleanup(func() { d.shut(m) })
}

// close ends what runs, in an orderly way.
func (d *desk) close() {
	d.Helper()
	d.shut(d.manager)
}

func (d *desk) shut(m *worker.Manager) {
	d.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := m.Close(ctx); err != nil {
		d.Errorf("close the manager: %v", err)
	}
}

func (d *desk) key() worker.Key { return worker.Key{Project: "p", Session: "s", Dir: d.dir} }

func (d *desk) worker() *worker.Worker {
	d.Helper()
	w, err := d.manager.Worker(d.ctx, d.key())
	if err != nil {
		d.Fatal(err)
	}
	return w
}

func (d *desk) set(w *worker.Worker, objective string) worker.Change {
	d.Helper()
	c, err := w.SetGoal(d.ctx, worker.GoalSpec{Objective: objective})
	if err != nil {
		d.Fatalf("set %q: %v", objective, err)
	}
	return c
}

func (d *desk) wait(op *worker.Operation) worker.Outcome {
	d.Helper()
	out, err := op.Wait(d.ctx)
	if err != nil {
		d.Fatalf("operation %s: %v", op.ID(), err)
	}
	return out
}

func (d *desk) wantEnd(out worker.Outcome, end worker.End, status protocol.ThreadGoalStatus) {
	d.Helper()
	var got protocol.ThreadGoalStatus
	if out.Goal != nil {
		got = out.Goal.Status
	}
	if out.End != end || got != status {
		d.Fatalf("ended %s with goal %q (%v), want %s with %q", out.End, got, out.Err, end, status)
	}
}

func (d *desk) reached(g *codextest.Gate) {
	d.Helper()
	if err := g.WaitReached(d.ctx); err != nil {
		d.Fatal(err)
	}
}
