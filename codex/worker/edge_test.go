package worker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

func TestAnEditWhereThereIsNoGoalStartsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	w := d.worker()
	if _, err := w.EditGoal(d.ctx, worker.GoalSpec{Objective: "nothing to edit"}); !errors.Is(err, worker.ErrNoGoal) {
		t.Errorf("edit: %v, want no goal", err)
	}
	if goal, err := w.Goal(d.ctx); err != nil || goal != nil {
		t.Errorf("the goal is %+v, %v", goal, err)
	}
}

func TestAnEditKeepsAPausedGoalPaused(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Working"), gate}))
	w := d.worker()
	op := d.set(w, "first").Operation
	d.reached(gate)
	if _, err := w.Stop(d.ctx); err != nil {
		t.Fatal(err)
	}
	d.wait(op)
	c, err := w.EditGoal(d.ctx, worker.GoalSpec{Objective: "second"})
	if err != nil || c.Goal.Objective != "second" || c.Goal.Status != protocol.ThreadGoalStatusPaused || c.Operation != nil {
		t.Errorf("edited to %+v in %v, %v", c.Goal, c.Operation, err)
	}
	gate.Open()
}

func TestAPromptDoesNotSetAStoredActiveGoalGoing(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.Text("Working"), gate},
		codextest.Reply{codextest.Text("Here is the answer.")},
	))
	d.leaveActive(gate, "wait")
	w := d.worker()
	if _, err := w.Prompt(d.ctx, "a question"); !errors.Is(err, worker.ErrGoalActive) {
		t.Fatalf("prompt: %v, want that the goal is active", err)
	}
	if w.Status().Loaded {
		t.Error("a refused prompt loaded the thread")
	}
	if _, err := w.PauseGoal(d.ctx, worker.PauseSpec{}); err != nil {
		t.Fatal(err)
	}
	d.wantEnd(d.wait(d.prompt(w, "a question")), worker.EndDone, protocol.ThreadGoalStatusPaused)
	if requests := d.model.Requests(); len(requests) != 2 || requests[1].Trigger == "goal" {
		t.Errorf("the prompt ran as a turn of the goal: %+v", requests[len(requests)-1].Trigger)
	}
}

func TestAThreadIDIsNoPath(t *testing.T) {
	t.Parallel()
	m, err := worker.NewManager(worker.Options{StateDir: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", ".", "..", victim, "../../victim", "a\x00b"} {
		if _, err := m.Adopt(t.Context(), worker.Key{Dir: t.TempDir()}, id); err == nil || !strings.Contains(err.Error(), "not a thread id") {
			t.Errorf("adopt %q: %v", id, err)
		}
	}
	if b, _ := os.ReadFile(victim); string(b) != "precious" {
		t.Errorf("the file now holds %q", b)
	}
}

// slowStart is a manager whose app-server answers nothing after the handshake.
func slowStart(t *testing.T) (*worker.Manager, *codextest.Peer) {
	peer := codextest.NewPeer(codextest.On("thread/start").Reach("starting").
		Hold("start").Answer(map[string]any{"thread": map[string]any{"id": fakeThread}}))
	m, err := worker.NewManager(worker.Options{
		StateDir: filepath.Join(t.TempDir(), "state"),
		Codex:    codex.Options{Dial: peer.Dial, Env: []string{"CODEX_HOME=/fake"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, peer
}

func TestOneCallersCancelDoesNotEndTheStartForOthers(t *testing.T) {
	t.Parallel()
	m, peer := slowStart(t)
	defer m.Close(context.Background())
	key := worker.Key{Dir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error), make(chan error)
	go func() { _, err := m.Worker(ctx, key); first <- err }()
	<-peer.Reached("starting")
	go func() { _, err := m.Worker(t.Context(), key); second <- err }()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first caller was told %v", err)
	}
	peer.Release("start")
	if err := <-second; err != nil {
		t.Errorf("the second caller was told %v", err)
	}
}

func TestClosingTheManagerGivesUpAStart(t *testing.T) {
	t.Parallel()
	m, peer := slowStart(t)
	told := make(chan error)
	go func() { _, err := m.Worker(t.Context(), worker.Key{Dir: "."}); told <- err }()
	<-peer.Reached("starting")
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-told; err == nil {
		t.Error("a closed manager handed out a worker")
	}
}

func TestACallerWhoseContextIsOverWritesNothing(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, codextest.On("thread/goal/set").Answer(fakeGoal("B", "active")))
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	for range 50 {
		if _, err := f.worker.SetGoal(ctx, worker.GoalSpec{Objective: "B"}); !errors.Is(err, context.Canceled) {
			t.Fatalf("told %v", err)
		}
	}
	f.wantFrames(0)
}

func TestAnInterruptWithoutAnAnswerDoesNotEndWhatRunsNext(t *testing.T) {
	t.Parallel()
	f := newFaulty(t,
		codextest.On("thread/goal/set").Nth(2).Answer(fakeGoal("A", "paused")),
		codextest.On("thread/goal/get").Nth(2).Answer(fakeGoal("A", "paused")),                   // the prompt's look
		codextest.On("turn/interrupt").Notify("turn/completed", turnNotice("t1", "interrupted")), // and silence
		codextest.On("turn/start").Answer(map[string]any{"turn": map[string]any{"id": "t2", "items": []any{}, "status": "inProgress"}}).
			Notify("turn/started", turnNotice("t2", "inProgress")))
	if out, err := f.worker.Stop(f.ctx); err != nil || out.End != worker.EndStopped {
		t.Fatalf("stop: %+v, %v", out, err)
	}
	op, err := f.worker.Prompt(f.ctx, "go on")
	if err != nil {
		t.Fatal(err)
	}
	// Behind the interrupt's own deadline.
	late, cancel := context.WithTimeout(f.ctx, 600*time.Millisecond)
	defer cancel()
	if out, err := op.Wait(late); err == nil {
		t.Fatalf("the prompt ended %+v", out)
	}
	f.peer.Notify("turn/completed", turnNotice("t2", "completed"))
	if out, err := op.Wait(f.ctx); err != nil || out.End != worker.EndDone {
		t.Errorf("the prompt ended %+v, %v", out, err)
	}
}

func TestAClosingWorkerTakesNothingMore(t *testing.T) {
	t.Parallel()
	f := newFaulty(t,
		codextest.On("thread/goal/set").Nth(2).Reach("pausing").Hold("pause").Answer(fakeGoal("A", "paused")),
		codextest.On("turn/interrupt").Answer(map[string]any{}).Notify("turn/completed", turnNotice("t1", "interrupted")))
	closed := make(chan error)
	go func() { closed <- f.worker.Close(f.ctx) }()
	<-f.peer.Reached("pausing")
	if err := f.replace(); !errors.Is(err, worker.ErrClosing) {
		t.Errorf("a change while it closes: %v", err)
	}
	f.peer.Release("pause")
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	f.wantFrames(1) // the pause
}

func TestAWorkerWhoseStopIsNotAnsweredSaysSoWhenItIsClosed(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, codextest.On("thread/goal/set").Nth(2).Silence())
	if err := f.worker.Close(f.ctx); err == nil {
		t.Error("closed as if all had been stopped")
	}
}

func TestASlowSubscriberLosesPiecesAndIsTold(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, codextest.On("thread/goal/set").Nth(2).
		Answer(fakeGoal("B", "active")).
		Flood(20000, "item/agentMessage/delta", map[string]any{"threadId": fakeThread, "turnId": "t1", "itemId": "i", "delta": "x"}).
		Notify("turn/completed", turnNotice("t1", "completed")))
	swift, events := f.worker.Subscribe(), f.worker.Subscribe()
	defer swift.Close()
	defer events.Close()
	if err := f.replace(); err != nil {
		t.Fatal(err)
	}
	until[*protocol.TurnCompletedNotification](&desk{T: t, ctx: f.ctx}, swift, nil) // only now the slow one reads
	var deltas, lagged uint64
	for {
		e, err := events.Next(f.ctx)
		if err != nil {
			t.Fatal(err)
		}
		switch e.Notification.(type) {
		case *protocol.AgentMessageDeltaNotification:
			deltas++
		case *protocol.TurnCompletedNotification:
			if deltas+lagged != 20000 || lagged == 0 {
				t.Errorf("%d pieces and %d lost of 20000", deltas, lagged)
			}
			return
		}
		lagged += e.Lagged
	}
}
