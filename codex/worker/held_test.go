package worker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// another starts a second app-server on the same home, as Codex's terminal
// interface does.
func (d *desk) another() *codex.Client {
	d.Helper()
	c, err := codex.Start(d.ctx, codex.Options{Path: d.opts.Codex.Path, Env: d.home.Env(), Dir: d.dir})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = c.Close() })
	return c
}

func (d *desk) stored(c *codex.Client, thread string) *protocol.ThreadGoal {
	d.Helper()
	r, err := codex.Call(d.ctx, c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: thread})
	if err != nil {
		d.Fatal(err)
	}
	return r.Goal
}

func (d *desk) setStatus(c *codex.Client, thread string, status protocol.ThreadGoalStatus) {
	d.Helper()
	_, err := codex.Call(d.ctx, c, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: thread, Status: protocol.Some(status)})
	if err != nil {
		d.Fatal(err)
	}
}

// every is each way to change a thread or to begin work on it.
func (d *desk) every(w *worker.Worker) map[string]error {
	spec := worker.GoalSpec{Objective: "mine"}
	_, set := w.SetGoal(d.ctx, spec)
	_, edit := w.EditGoal(d.ctx, spec)
	_, budget := w.SetBudget(d.ctx, protocol.Some(int64(5)))
	_, resume := w.ResumeGoal(d.ctx, worker.GoalSpec{})
	_, pause := w.PauseGoal(d.ctx, worker.PauseSpec{})
	_, clear := w.ClearGoal(d.ctx)
	_, prompt := w.Prompt(d.ctx, "a question")
	return map[string]error{"set": set, "edit": edit, "budget": budget, "resume": resume, "pause": pause, "clear": clear, "prompt": prompt}
}

func TestNothingIsWrittenToAThreadThatAnotherClientHas(t *testing.T) {
	t.Parallel()
	first, second := codextest.NewGate(), codextest.NewGate()
	defer second.Open()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.Text("Working"), first},
		codextest.Reply{codextest.Text("Working there"), second},
	))
	thread := d.leaveActive(first, "theirs")
	there := d.another()
	if _, err := codex.Call(d.ctx, there, protocol.ThreadResumeMethod, protocol.ThreadResumeParams{ThreadID: thread}); err != nil {
		t.Fatal(err)
	}
	d.reached(second) // its goal runs there
	before := d.stored(there, thread)
	w := d.worker()
	for name, err := range d.every(w) {
		var held *worker.HeldError
		if !errors.Is(err, worker.ErrThreadHeld) || !errors.As(err, &held) || held.Thread != thread || held.PID != there.Server().Process.PID {
			t.Errorf("%s: told %v, want that process %d has the thread", name, err, there.Server().Process.PID)
		}
	}
	after := d.stored(there, thread)
	after.TimeUsedSeconds = before.TimeUsedSeconds
	if diff := cmp.Diff(before, after); diff != "" || w.Status().Loaded {
		t.Errorf("loaded %t, and the goal is another one (-before +after):\n%s", w.Status().Loaded, diff)
	}
	c, err := w.PauseGoal(d.ctx, worker.PauseSpec{Force: true})
	if err != nil || !strings.Contains(string(c.Note), "another client") {
		t.Errorf("paused by force: note %q, %v", c.Note, err)
	}
	if goal := d.stored(there, thread); goal.Status != protocol.ThreadGoalStatusPaused {
		t.Errorf("the goal is %s", goal.Status)
	}
}

// The lock is taken between the look and the load, which no look can see.
func TestARefusedLoadLeavesTheStoredGoalAsItWas(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.InOrder(codextest.Reply{codextest.Text("Working"), gate}))
	tap := &wiretap{}
	d.opts.Codex.Trace = tap
	d.open()
	thread := d.leaveActive(gate, "the stale objective")
	w := d.worker()
	before := d.stored(w.Client(), thread)
	lock := filepath.Join(w.Client().Server().CodexHome, "thread-writer-locks", thread+".lock")
	tap.notify(func(f frame) {
		if f.Method == "thread/goal/set" && f.Params.Status == "paused" {
			d.hold(lock)
		}
	})
	_, err := w.SetGoal(d.ctx, worker.GoalSpec{Objective: "the fresh objective"})
	var refused *codex.RPCError
	if !errors.Is(err, worker.ErrThreadHeld) || !errors.As(err, &refused) {
		t.Errorf("told %v, want Codex's refusal of a held thread", err)
	}
	after := d.stored(w.Client(), thread)
	after.UpdatedAt, after.TimeUsedSeconds = before.UpdatedAt, before.TimeUsedSeconds
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the goal is another one (-before +after):\n%s", diff)
	}
	if n := len(d.model.Requests()); n != 1 || tap.count("thread/goal/set", "the fresh objective") != 0 {
		t.Errorf("%d model requests, and the objective was written", n)
	}
	if s := w.Status(); s.Operation != nil || s.Loaded {
		t.Errorf("left %+v", s)
	}
}

// hold takes a thread's writer lock until the test ends.
func (d *desk) hold(lock string) {
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		d.Error(err)
		return
	}
	d.Cleanup(func() { _ = f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		d.Error(err)
	}
}

// Another process changes the goal without a word to this one, which has the thread
// loaded and idle.
func TestAnIdleWorkerLooksBeforeItActsOnAGoal(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.UpdateGoal("complete")},
		codextest.Reply{codextest.Text("Done.")},
		codextest.Reply{codextest.Text("An answer.")},
	))
	w := d.worker()
	d.wantEnd(d.wait(d.set(w, "be done").Operation), worker.EndComplete, protocol.ThreadGoalStatusComplete)
	there := d.another()
	d.setStatus(there, w.Thread(), protocol.ThreadGoalStatusActive)
	if _, err := w.Prompt(d.ctx, "a question"); !errors.Is(err, worker.ErrGoalActive) {
		t.Errorf("a prompt on a goal that is active by now: %v", err)
	}
	c, err := w.PauseGoal(d.ctx, worker.PauseSpec{})
	if err != nil || c.Goal.Status != protocol.ThreadGoalStatusPaused {
		t.Errorf("a pause of a goal last known complete: %+v, %v", c.Goal, err)
	}
	d.setStatus(there, w.Thread(), protocol.ThreadGoalStatusComplete)
	if _, err := w.PauseGoal(d.ctx, worker.PauseSpec{}); !errors.Is(err, worker.ErrComplete) {
		t.Errorf("a pause of a goal that is complete by now: %v", err)
	}
	if _, err := codex.Call(d.ctx, there, protocol.ThreadGoalClearMethod, protocol.ThreadGoalClearParams{ThreadID: w.Thread()}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.EditGoal(d.ctx, worker.GoalSpec{Objective: "ghost"}); !errors.Is(err, worker.ErrNoGoal) {
		t.Errorf("an edit of a goal that is gone by now: %v", err)
	}
	d.wantEnd(d.wait(d.prompt(w, "a question")), worker.EndDone, "")
}
