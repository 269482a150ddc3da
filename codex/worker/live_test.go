package worker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// working is a model that works on whatever objective it is told, in turns of some
// 60 ms, and completes the goal once the objective says that it is the last.
func working() codextest.Script {
	return func(r codextest.Request) codextest.Reply {
		if strings.Contains(r.Objective(), "the last") {
			if _, done := r.Output("finish"); done {
				return codextest.Reply{codextest.Text("Done.")}
			}
			return codextest.Reply{codextest.CallID("finish", "update_goal", map[string]any{"status": "complete"})}
		}
		return codextest.Reply{codextest.Paced("Still working on it.", 15*time.Millisecond)}
	}
}

// until reads events until a notification that match accepts; nil accepts all.
func until[T protocol.Notification](d *desk, s *worker.Subscription, match func(T) bool) T {
	d.Helper()
	for {
		e, err := s.Next(d.ctx)
		if err != nil {
			d.Fatal(err)
		}
		if n, ok := e.Notification.(T); ok && (match == nil || match(n)) {
			return n
		}
	}
}

// happens is until for events that come from now on: what has come already is
// past, and to act on it would be late.
func happens[T protocol.Notification](d *desk, w *worker.Worker, match func(T) bool) T {
	d.Helper()
	events := w.Subscribe()
	defer events.Close()
	return until(d, events, match)
}

func TestPausesClearsAndStopsAtTurnEndsLeaveNothingRunning(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(*desk, *worker.Worker) (worker.End, protocol.ThreadGoalStatus){
		"pause": func(d *desk, w *worker.Worker) (worker.End, protocol.ThreadGoalStatus) {
			if _, err := w.PauseGoal(d.ctx, worker.PauseSpec{}); err != nil {
				d.Fatal(err)
			}
			return worker.EndPaused, protocol.ThreadGoalStatusPaused
		},
		"clear": func(d *desk, w *worker.Worker) (worker.End, protocol.ThreadGoalStatus) {
			if _, err := w.ClearGoal(d.ctx); err != nil {
				d.Fatal(err)
			}
			return worker.EndCleared, ""
		},
		"stop": func(d *desk, w *worker.Worker) (worker.End, protocol.ThreadGoalStatus) {
			if _, err := w.Stop(d.ctx); err != nil {
				d.Fatal(err)
			}
			return worker.EndStopped, protocol.ThreadGoalStatusPaused
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, working())
			w := d.worker()
			for i := range *boundaries {
				op := d.set(w, fmt.Sprintf("objective %d", i)).Operation
				if i%2 == 0 {
					happens[*protocol.TurnCompletedNotification](d, w, nil)
				} else {
					happens[*protocol.TurnStartedNotification](d, w, nil)
				}
				end, status := act(d, w)
				d.wantEnd(d.wait(op), end, status)
				d.quiet(w, end, status)
			}
			row(t, name+" at turn ends", *boundaries, "nothing runs, goal as asked")
		})
	}
}

// quiet waits until nothing runs: a turn that outran a pause is adopted, and ends.
func (d *desk) quiet(w *worker.Worker, end worker.End, status protocol.ThreadGoalStatus) {
	d.Helper()
	for w.Status().Operation != nil {
		d.wait(w.Status().Operation)
	}
	goal, err := w.Goal(d.ctx)
	if err != nil {
		d.Fatal(err)
	}
	var got protocol.ThreadGoalStatus
	if goal != nil {
		got = goal.Status
	}
	if got != status {
		d.Fatalf("after %s the goal is %q, want %q", end, got, status)
	}
}

func TestAFailedTurnEndsTheGoalWithItsNativeError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		step codextest.Step
		end  worker.End
	}{
		{"server-error", codextest.ServerError(), worker.EndBlocked},
		{"rate-limited", codextest.RateLimited(), worker.EndBlocked},
		{"usage-limit", codextest.UsageLimitReached(), worker.EndUsageLimited},
		{"stream-cut", codextest.Cut(), worker.EndBlocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, codextest.InOrder(
				codextest.Reply{c.step},
				codextest.Reply{codextest.UpdateGoal("complete")},
				codextest.Reply{codextest.Text("Done.")},
			))
			w := d.worker()
			out := d.wait(d.set(w, "fail once").Operation)
			d.wantEnd(out, c.end, protocol.ThreadGoalStatus(c.end))
			if out.Turn == nil || out.Turn.Status != protocol.TurnStatusFailed || out.Turn.Error == nil {
				t.Fatalf("the failed turn's error is missing: %+v", out.Turn)
			}
			// It goes on only when it is told to.
			r, err := w.ResumeGoal(d.ctx, worker.GoalSpec{})
			if err != nil {
				t.Fatal(err)
			}
			d.wantEnd(d.wait(r.Operation), worker.EndComplete, protocol.ThreadGoalStatusComplete)
			row(t, "failure: "+c.name, 1, "ended "+string(c.end)+", resumed, completed")
		})
	}
}

func TestAModelThatBlocksIsToldApartFromAFailedTurn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.UpdateGoal("blocked")},
		codextest.Reply{codextest.Text("I need a key.")},
	))
	out := d.wait(d.set(d.worker(), "need a key").Operation)
	d.wantEnd(out, worker.EndBlocked, protocol.ThreadGoalStatusBlocked)
	if out.Turn.Status != protocol.TurnStatusCompleted || out.Turn.Answer != "I need a key." {
		t.Errorf("last turn %+v", out.Turn)
	}
}

func TestABudgetIsTheGoalsTotalAndStopsIt(t *testing.T) {
	t.Parallel()
	spend := codextest.Usage{Input: 90, Output: 30}
	for _, c := range []struct {
		name   string
		first  codextest.Reply
		second codextest.Reply
	}{
		{"mid-turn", codextest.Reply{codextest.Exec("true"), spend}, codextest.Reply{codextest.Text("Wrapping up."), spend}},
		{"at-its-end", codextest.Reply{codextest.Text("One."), spend}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			replies := []codextest.Reply{c.first}
			if c.second != nil {
				replies = append(replies, c.second)
			}
			d := newDesk(t, codextest.InOrder(replies...))
			w := d.worker()
			change, err := w.SetGoal(d.ctx, worker.GoalSpec{Objective: "spend", Budget: protocol.Some(int64(100))})
			if err != nil {
				t.Fatal(err)
			}
			out := d.wait(change.Operation)
			d.wantEnd(out, worker.EndBudgetLimited, protocol.ThreadGoalStatusBudgetLimited)

			// Acknowledged, but no work starts: the counters of the goal go on.
			again, err := w.ResumeGoal(d.ctx, worker.GoalSpec{})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(again.Note), "budget is used up") {
				t.Errorf("note %q", again.Note)
			}
			d.wantEnd(d.wait(again.Operation), worker.EndBudgetLimited, protocol.ThreadGoalStatusBudgetLimited)

			raised, err := w.SetBudget(d.ctx, protocol.Null[int64]())
			if err != nil || raised.Goal.TokenBudget != nil {
				t.Errorf("budget removed: %+v, %v", raised.Goal, err)
			}
			row(t, "budget crossed "+c.name, 1, "ended budgetLimited, resume says why nothing starts")
		})
	}
}

func TestAGoalAfterACompleteOneStartsFromZero(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.UpdateGoal("complete"), codextest.Usage{Input: 200, Output: 40}},
		codextest.Reply{codextest.Text("One."), codextest.Usage{Input: 200, Output: 40}},
		codextest.Reply{codextest.UpdateGoal("complete"), codextest.Usage{}},
		codextest.Reply{codextest.Text("Two."), codextest.Usage{Input: 10, Output: 2}},
	))
	w := d.worker()
	first := d.wait(d.set(w, "first").Operation)
	d.wantEnd(first, worker.EndComplete, protocol.ThreadGoalStatusComplete)
	change := d.set(w, "second")
	if change.Goal.TokensUsed != 0 {
		t.Errorf("the new goal starts with %d tokens", change.Goal.TokensUsed)
	}
	second := d.wait(change.Operation)
	d.wantEnd(second, worker.EndComplete, protocol.ThreadGoalStatusComplete)
	row(t, "second goal after a complete one", 1, "counters from zero")
}
