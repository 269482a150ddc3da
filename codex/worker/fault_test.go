package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

const fakeThread = "00000000-0000-0000-0000-000000000001"

func fakeGoal(objective string, status protocol.ThreadGoalStatus) map[string]any {
	return map[string]any{"goal": map[string]any{
		"threadId": fakeThread, "objective": objective, "status": status,
		"tokensUsed": 0, "timeUsedSeconds": 0, "createdAt": 1, "updatedAt": 1,
	}}
}

func goalNotice(objective string, status protocol.ThreadGoalStatus) map[string]any {
	n := fakeGoal(objective, status)
	n["threadId"] = fakeThread
	return n
}

func turnNotice(id string, status protocol.TurnStatus) map[string]any {
	return map[string]any{"threadId": fakeThread, "turn": map[string]any{"id": id, "items": []any{}, "status": status}}
}

// faulty is a worker on a fake app-server that runs a turn for objective A; the
// rules say what becomes of the second thread/goal/set.
type faulty struct {
	*testing.T
	ctx    context.Context
	peer   *codextest.Peer
	worker *worker.Worker
	op     *worker.Operation
}

func newFaulty(t *testing.T, rules ...*codextest.Rule) *faulty {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	rules = append([]*codextest.Rule{
		codextest.On("thread/start").Answer(map[string]any{"thread": map[string]any{"id": fakeThread}}),
		codextest.On("thread/goal/get").Nth(1).Answer(map[string]any{"goal": nil}),
		codextest.On("thread/goal/set").Nth(1).Answer(fakeGoal("A", "active")).Notify("turn/started", turnNotice("t1", "inProgress")),
	}, rules...)
	peer := codextest.NewPeer(rules...)
	m, err := worker.NewManager(worker.Options{
		StateDir: t.TempDir() + "/state",
		Codex:    codex.Options{Dial: peer.Dial, CallTimeout: 300 * time.Millisecond, Env: []string{"CODEX_HOME=/fake"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w, err := m.Worker(ctx, worker.Key{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(ctx) })
	events := w.Subscribe()
	c, err := w.SetGoal(ctx, worker.GoalSpec{Objective: "A"})
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{T: t, ctx: ctx, peer: peer, worker: w, op: c.Operation}
	until[*protocol.TurnStartedNotification](&desk{T: t, ctx: ctx}, events, nil)
	events.Close()
	return f
}

func (f *faulty) replace() error {
	_, err := f.worker.SetGoal(f.ctx, worker.GoalSpec{Objective: "B"})
	return err
}

func (f *faulty) wantFrames(n int) {
	f.Helper()
	if got := len(f.peer.Received("thread/goal/set")); got != n+1 { // A is one of them
		f.Errorf("the replacement was written %d times, want %d", got-1, n)
	}
}

func TestAReplacementWithoutAKnownOutcomeDisconnectsAndIsNeverRepeated(t *testing.T) {
	t.Parallel()
	second := func() *codextest.Rule { return codextest.On("thread/goal/set").Nth(2) }
	for name, rule := range map[string]*codextest.Rule{
		"no-answer-in-time":      second().Silence(),
		"peer-dies":              second().Die(),
		"peer-hangs-up":          second().HangUp(),
		"answer-cut":             second().CutAnswer(fakeGoal("B", "active")).Die(),
		"answer-under-wrong-id":  second().AnswerAs("4711", fakeGoal("B", "active")),
		"answer-is-not-json":     second().Raw("{\"id\":{{id}},\"result\"\n"),
		"turn-ends-and-it-dies":  second().Notify("turn/completed", turnNotice("t1", "completed")).Die(),
		"goal-cleared-then-dies": second().Notify("thread/goal/cleared", map[string]any{"threadId": fakeThread}).Die(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, rule)
			err := f.replace()
			if codex.DeliveryOf(err) != codex.Unknown {
				t.Errorf("the submitter was told %v", err)
			}
			out, werr := f.op.Wait(f.ctx)
			if werr != nil || out.End != worker.EndDisconnected {
				t.Errorf("the operation ended %q, %v", out.End, werr)
			}
			<-f.worker.Done()
			f.wantFrames(1)
			if err := f.worker.Err(); !errors.Is(err, worker.ErrDisconnected) || errors.Is(err, codex.ErrClosed) {
				t.Errorf("the worker ended with %v", err)
			}
			// What is told of the next one is that nothing of it was sent, and why.
			next := f.replace()
			if !errors.Is(next, worker.ErrDisconnected) || codex.DeliveryOf(next) != codex.NotSent || !strings.Contains(next.Error(), cause(err)) {
				t.Errorf("the next change was told %v, and the first %v", next, err)
			}
			if err := f.worker.Close(f.ctx); err != nil {
				t.Errorf("closing a worker that has ended: %v", err)
			}
			f.wantFrames(1)
		})
	}
}

// cause is what the error of an unknown delivery says of its reason.
func cause(err error) string {
	var d *codex.DeliveryError
	if !errors.As(err, &d) {
		return "no delivery error"
	}
	return d.Err.Error()
}

func TestARejectedReplacementLeavesTheOperationAsItWas(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, codextest.On("thread/goal/set").Nth(2).
		Notify("thread/goal/updated", goalNotice("A", "complete")).
		Notify("turn/completed", turnNotice("t1", "completed")).
		Refuse(-32600, "not now"))
	err := f.replace()
	var refused *codex.RPCError
	if !errors.As(err, &refused) || refused.Message != "not now" {
		t.Errorf("the submitter was told %v", err)
	}
	out, err := f.op.Wait(f.ctx)
	if err != nil || out.End != worker.EndComplete || out.Err != nil {
		t.Errorf("the operation ended %+v, %v", out, err)
	}
}

func TestAnAnswerThatCannotBeReadIsReadBackNotRepeated(t *testing.T) {
	t.Parallel()
	f := newFaulty(t,
		codextest.On("thread/goal/set").Nth(2).Raw("{\"id\":{{id}},\"result\":{\"goal\":{\"tokensUsed\":\"many\"}}}\n"),
		codextest.On("thread/goal/get").Nth(2).Answer(fakeGoal("B", "active")))
	c, err := f.worker.SetGoal(f.ctx, worker.GoalSpec{Objective: "B"})
	if err != nil || c.Goal == nil || c.Goal.Objective != "B" || c.Operation != f.op {
		t.Fatalf("change %+v, %v", c, err)
	}
	f.wantFrames(1)
}

func TestACallerWhoStopsWaitingChangesNothingElse(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, codextest.On("thread/goal/set").Nth(2).Reach("written").Hold("answer").Answer(fakeGoal("B", "active")),
		codextest.On("thread/goal/set").Nth(3).Answer(fakeGoal("B", "paused")))
	ctx, cancel := context.WithCancel(f.ctx)
	told := make(chan error)
	go func() {
		_, err := f.worker.SetGoal(ctx, worker.GoalSpec{Objective: "B"})
		told <- err
	}()
	<-f.peer.Reached("written")
	cancel()
	if err := <-told; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller was told %v", err)
	}
	if !f.worker.Status().Pending {
		t.Error("the change is not held any more")
	}
	f.peer.Release("answer")
	// The next change is written only behind the answer to this one.
	c, err := f.worker.PauseGoal(f.ctx, worker.PauseSpec{})
	if err != nil || c.Goal.Objective != "B" {
		t.Errorf("behind it: %+v, %v", c.Goal, err)
	}
	f.wantFrames(2) // the pause is the other
}

func TestAStopThatIsNotAnsweredEndsTheAppServer(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, codextest.On("thread/goal/set").Nth(2).Silence())
	out, err := f.worker.Stop(f.ctx)
	// The fake cannot be started again, so nobody can say what the goal is.
	if !errors.Is(err, codex.ErrDeadline) || !errors.Is(err, worker.ErrStopUnknown) || out.End != worker.EndDisconnected || out.AtRest() {
		t.Errorf("stop: %+v, %v", out, err)
	}
	<-f.worker.Done()
	f.wantFrames(1)
	for name, err := range map[string]error{"worker": f.worker.Err(), "next change": f.replace()} {
		if !errors.Is(err, worker.ErrDisconnected) || !strings.Contains(err.Error(), codex.ErrDeadline.Error()) {
			t.Errorf("the %s says %v", name, err)
		}
	}
}

func TestManyReplacementsInARowAreAnsweredInOrder(t *testing.T) {
	t.Parallel()
	var rules []*codextest.Rule
	const n = 8
	for i := 2; i <= n+1; i++ {
		rules = append(rules, codextest.On("thread/goal/set").Nth(i).Answer(fakeGoal(fmt.Sprint(i), "active")))
	}
	f := newFaulty(t, rules...)
	answers := make(chan worker.Change, n)
	for range n {
		go func() {
			c, err := f.worker.SetGoal(f.ctx, worker.GoalSpec{Objective: "any"})
			if err != nil {
				t.Error(err)
			}
			answers <- c
		}()
	}
	seen := map[string]bool{}
	for range n {
		seen[(<-answers).Goal.Objective] = true
	}
	if len(seen) != n {
		t.Errorf("%d distinct answers for %d changes", len(seen), n)
	}
	f.wantFrames(n)
}
