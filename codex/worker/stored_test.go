package worker_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/journal"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// leaveActive leaves a stored goal active behind: its app-server is killed.
func (d *desk) leaveActive(gate *codextest.Gate, objective string) (thread string) {
	d.Helper()
	w := d.worker()
	op := d.set(w, objective).Operation
	d.reached(gate)
	if err := w.Client().Kill(); err != nil {
		d.Fatal(err)
	}
	d.wantEnd(d.wait(op), worker.EndDisconnected, protocol.ThreadGoalStatusActive)
	<-w.Done()
	return w.Thread()
}

func TestANewObjectiveForAStoredActiveGoalIsTheOnlyOneHeard(t *testing.T) {
	t.Parallel()
	stale := 0
	for range *starts {
		gate := codextest.NewGate()
		d := newDesk(t, codextest.InOrder(
			codextest.Reply{codextest.Text("Working"), gate},
			codextest.Reply{codextest.UpdateGoal("complete")},
			codextest.Reply{codextest.Text("Done.")},
		))
		tap := &wiretap{}
		d.opts.Codex.Trace = tap
		d.open()
		thread := d.leaveActive(gate, "the stale objective")
		w := d.worker()
		if w.Thread() != thread || w.Status().Loaded {
			t.Errorf("thread %s loaded %t, want %s unloaded", w.Thread(), w.Status().Loaded, thread)
		}
		change := d.set(w, "the fresh objective")
		if !w.Status().Loaded {
			t.Error("acknowledged before the thread was loaded")
		}
		d.wantEnd(d.wait(change.Operation), worker.EndComplete, protocol.ThreadGoalStatusComplete)
		for _, r := range d.model.Requests()[1:] {
			if r.Objective() != "the fresh objective" {
				stale++
				t.Errorf("request %d pursues %q", r.N, r.Objective())
			}
		}
		if n := tap.count("turn/start", ""); n != 0 {
			t.Errorf("%d turns started by us", n)
		}
	}
	row(t, "new objective on a stored active goal", *starts, fmt.Sprintf("old objective heard %d times", stale))
}

func TestResumePausedPausesAStoredGoalSoThatNothingStarts(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.Text("Working"), gate},
		codextest.Reply{codextest.Text("Only the prompt.")},
	))
	d.opts.ResumePaused = true
	d.open()
	d.leaveActive(gate, "wait for me")
	w := d.worker()
	goal, err := w.Goal(d.ctx)
	if err != nil || goal == nil || goal.Status != protocol.ThreadGoalStatusPaused {
		t.Fatalf("the stored goal is %+v, %v", goal, err)
	}
	d.wantEnd(d.wait(d.prompt(w, "just a question")), worker.EndDone, protocol.ThreadGoalStatusPaused)
}

func TestAResumedThreadKeepsTheSandboxItWasGiven(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	d.opts.Thread.Sandbox = protocol.SandboxModeReadOnly
	d.open()
	w := d.worker()
	d.wait(d.prompt(w, "one"))
	if err := w.Close(d.ctx); err != nil {
		t.Fatal(err)
	}
	w = d.worker()
	d.wait(d.prompt(w, "two"))
	// Resuming a loaded thread changes nothing and shows the live values.
	r, err := codex.Call(d.ctx, w.Client(), protocol.ThreadResumeMethod, protocol.ThreadResumeParams{ThreadID: w.Thread()})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Sandbox.Arm.(*protocol.SandboxPolicyReadOnly); !ok {
		t.Errorf("the sandbox is %T", r.Sandbox.Arm)
	}
}

func TestAThreadThatNeverHadATurnIsStartedAnew(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	w := d.worker()
	first := w.Thread()
	if err := w.Close(d.ctx); err != nil {
		t.Fatal(err)
	}
	w = d.worker()
	if w.Thread() == first {
		t.Error("0.160.1 kept a thread without goal and turn")
	}
	d.wantEnd(d.wait(d.prompt(w, "hello")), worker.EndDone, "")
}

func TestAPromptWhoseOwnerDiedIsFoundByItsOwnID(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	defer gate.Open()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Working"), gate}))
	tap := &wiretap{}
	d.opts.Codex.Trace = tap
	d.open()
	w := d.worker()
	tap.notify(func(f frame) {
		if f.Method == "turn/start" {
			_ = w.Client().Kill()
		}
	})
	_, err := w.Prompt(d.ctx, "did you get this?")
	<-w.Done()
	next := d.worker()
	if err == nil { // Codex was faster than the signal
		if r := next.Recovered(); len(r) != 0 {
			t.Errorf("acknowledged, and recovered %+v", r)
		}
		return
	}
	if codex.DeliveryOf(err) != codex.Unknown {
		t.Fatalf("the caller was told %v", err)
	}
	if r := next.Recovered(); len(r) != 1 || r[0].Intent.Text != "did you get this?" || r[0].Verdict == worker.Delivered {
		t.Errorf("recovered %+v", r)
	}
}

func TestClosingAWorkerThatOnlyLookedLeavesAStoredGoalActive(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Working"), gate}))
	defer gate.Open()
	d.leaveActive(gate, "leave me be")
	if err := d.worker().Close(d.ctx); err != nil {
		t.Fatal(err)
	}
	goal, err := d.worker().Goal(d.ctx)
	if err != nil || goal == nil || goal.Status != protocol.ThreadGoalStatusActive {
		t.Errorf("the goal is %+v, %v", goal, err)
	}
}

func TestIdleWorkersCloseAndAreMadeAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	d.opts.IdleTimeout = 100 * time.Millisecond
	d.open()
	w := d.worker()
	select {
	case <-w.Done():
	case <-d.ctx.Done():
		t.Fatal("an idle worker lives on")
	}
	if !errors.Is(w.Err(), worker.ErrClosed) {
		t.Errorf("it ended with %v", w.Err())
	}
	if _, err := w.SetGoal(d.ctx, worker.GoalSpec{Objective: "late"}); !errors.Is(err, worker.ErrClosed) {
		t.Errorf("submitted to a closed worker: %v", err)
	}
	d.wantEnd(d.wait(d.prompt(d.worker(), "again")), worker.EndDone, "")
}

func TestTheManagersCloseStopsWhatRuns(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Working"), gate}))
	w := d.worker()
	op := d.set(w, "until closed").Operation
	d.reached(gate)
	ctx, cancel := context.WithTimeout(d.ctx, 20*time.Second)
	defer cancel()
	if err := d.manager.Close(ctx); err != nil {
		t.Fatal(err)
	}
	d.wantEnd(d.wait(op), worker.EndStopped, protocol.ThreadGoalStatusPaused)
	gate.Open()
}

func TestAGoalThatCameAndWasClearedElsewhereIsNotCalledUndelivered(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	w := d.worker()
	d.wait(d.prompt(w, "hello"))
	intent := worker.Intent{
		ID: 1000, Thread: w.Thread(), Method: "thread/goal/set", Objective: "there and gone", BeforeKnown: true, At: time.Now().UnixMilli(),
	}
	if err := w.Close(d.ctx); err != nil {
		t.Fatal(err)
	}
	// What an owner leaves that died before the answer.
	id, err := worker.Identify(d.key(), d.opts.Codex.Env)
	if err != nil {
		t.Fatal(err)
	}
	log, _, _, err := journal.Open(filepath.Join(worker.IdentityDir(d.opts.StateDir, id), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	record, err := journal.New("intent", intent)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Append(record), log.Close()); err != nil {
		t.Fatal(err)
	}
	// It landed, and another client cleared it.
	client, err := codex.Start(d.ctx, d.opts.Codex)
	if err != nil {
		t.Fatal(err)
	}
	set := protocol.ThreadGoalSetParams{ThreadID: intent.Thread, Objective: protocol.Some(intent.Objective), Status: protocol.Some(protocol.ThreadGoalStatusPaused)}
	_, setErr := codex.Call(d.ctx, client, protocol.ThreadGoalSetMethod, set)
	_, clearErr := codex.Call(d.ctx, client, protocol.ThreadGoalClearMethod, protocol.ThreadGoalClearParams{ThreadID: intent.Thread})
	if err := errors.Join(setErr, clearErr, client.Close()); err != nil {
		t.Fatal(err)
	}
	if r := d.worker().Recovered(); len(r) != 1 || r[0].Intent.ID != intent.ID || r[0].Verdict != worker.Undetermined {
		t.Errorf("recovered %+v", r)
	}
}
