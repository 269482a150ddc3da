package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

func (d *desk) prompt(w *worker.Worker, text string) *worker.Operation {
	d.Helper()
	op, err := w.Prompt(d.ctx, text)
	if err != nil {
		d.Fatalf("prompt %q: %v", text, err)
	}
	return op
}

func TestAPromptAnswersAndEndsDone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.InOrder(codextest.Reply{codextest.Text("Four.")}))
	w := d.worker()
	op := d.prompt(w, "two and two?")
	d.wantEnd(d.wait(op), worker.EndDone, "")
	if turn, err := op.WaitTurn(d.ctx); err != nil || turn.Answer != "Four." || op.Kind() != worker.KindPrompt {
		t.Errorf("turn %+v, %v, kind %v", turn, err, op.Kind())
	}
}

func TestAGoalSetDuringAPromptTakesItsOperationOver(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.Text("Answering"), gate},
		codextest.Reply{codextest.UpdateGoal("complete")},
		codextest.Reply{codextest.Text("Goal done.")},
	))
	w := d.worker()
	op := d.prompt(w, "a question")
	d.reached(gate)
	if _, err := w.Prompt(d.ctx, "another"); !errors.Is(err, worker.ErrBusy) {
		t.Errorf("a second prompt: %v, want busy", err)
	}
	if c := d.set(w, "a goal"); c.Operation != op {
		t.Errorf("the goal runs in %v, want the prompt's operation", c.Operation)
	}
	gate.Open()
	turn, err := op.WaitTurn(d.ctx)
	if err != nil || turn.Answer != "Answering" {
		t.Errorf("the prompt's own turn: %+v, %v", turn, err)
	}
	d.wantEnd(d.wait(op), worker.EndComplete, protocol.ThreadGoalStatusComplete)
	if op.Kind() != worker.KindGoal {
		t.Errorf("kind %v", op.Kind())
	}
}

func TestAGoalThatTheModelCreatesInAPromptIsAdopted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.CreateGoal("tidy up", 0)},
		codextest.Reply{codextest.Text("I set myself a goal.")},
		codextest.Reply{codextest.Text("Working on it.")},
		codextest.Reply{codextest.UpdateGoal("complete")},
		codextest.Reply{codextest.Text("Tidy.")},
	))
	w := d.worker()
	op := d.prompt(w, "please tidy up")
	out := d.wait(op)
	d.wantEnd(out, worker.EndComplete, protocol.ThreadGoalStatusComplete)
	if turn, _ := op.WaitTurn(d.ctx); turn.Answer != "I set myself a goal." {
		t.Errorf("the prompt's answer is %q", turn.Answer)
	}
}

func TestASteerReachesTheRunningTurn(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.Text("One"), gate},
		codextest.Reply{codextest.Text("Two.")},
	))
	w := d.worker()
	if err := w.Steer(d.ctx, "nothing runs"); !errors.Is(err, worker.ErrNoTurn) {
		t.Errorf("steer on an idle thread: %v", err)
	}
	op := d.prompt(w, "count")
	d.reached(gate)
	if err := w.Steer(d.ctx, "in French"); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	d.wantEnd(d.wait(op), worker.EndDone, "")
	requests := d.model.Requests()
	if len(requests) != 2 || !requests[1].Heard("in French") || requests[1].Turn != requests[0].Turn {
		t.Errorf("the steer was not heard by the same turn: %d requests", len(requests))
	}
}

func TestABareInterruptByAnotherClientEndsTheGoalStalledAndPaused(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Working"), gate}))
	d.opts.StallTimeout = 200 * time.Millisecond
	d.open()
	w := d.worker()
	op := d.set(w, "go on for ever").Operation
	d.reached(gate)
	// What another client of the same app-server would do.
	if _, err := codex.Call(d.ctx, w.Client(), protocol.TurnInterruptMethod,
		protocol.TurnInterruptParams{ThreadID: w.Thread(), TurnID: w.Status().Turn}); err != nil {
		t.Fatal(err)
	}
	d.wantEnd(d.wait(op), worker.EndStalled, protocol.ThreadGoalStatusPaused)
	gate.Open()
}

func TestAReplacementLeavesAPendingApprovalToItsOwnTurn(t *testing.T) {
	t.Parallel()
	asked := make(chan *protocol.CommandExecutionRequestApprovalParams, 1)
	answer := make(chan struct{})
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.ExecEscalated("true", "to see")},
		codextest.Reply{codextest.UpdateGoal("complete")},
		codextest.Reply{codextest.Text("Done.")},
	))
	d.opts.Thread = worker.ThreadOptions{Sandbox: protocol.SandboxModeWorkspaceWrite, Approval: &protocol.AskForApproval{Arm: protocol.AskForApprovalOnRequest}}
	d.opts.Codex.Handlers.ApproveCommand = func(ctx context.Context, p *protocol.CommandExecutionRequestApprovalParams) (protocol.CommandExecutionRequestApprovalResponse, error) {
		asked <- p
		<-answer
		return protocol.CommandExecutionRequestApprovalResponse{Decision: protocol.CommandExecutionApprovalDecision{Arm: protocol.CommandExecutionApprovalDecisionDecline}}, ctx.Err()
	}
	d.open()
	w := d.worker()
	first := d.set(w, "needs approval")
	pending := <-asked
	second := d.set(w, "another objective")
	if second.Operation != first.Operation || w.Status().Turn != pending.TurnID {
		t.Errorf("the approval is of turn %s, the worker is in %s", pending.TurnID, w.Status().Turn)
	}
	close(answer)
	d.wantEnd(d.wait(first.Operation), worker.EndComplete, protocol.ThreadGoalStatusComplete)
	if heard := d.model.Heard("another objective"); len(heard) == 0 || heard[0].Turn != pending.TurnID {
		t.Errorf("the new objective was heard first in %v, want turn %s", heard, pending.TurnID)
	}
}

func TestObjectivesAreCheckedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{" \n ", "blank"},
		{strings.Repeat("é", 4001), "4001 characters"},
		{"bad \xff", "UTF-8"},
	} {
		if _, err := worker.TrimObjective(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %q", c.text, err, c.want)
		}
	}
	if got, err := worker.TrimObjective(" " + strings.Repeat("é", 4000) + " "); err != nil || len(got) != 8000 {
		t.Errorf("4000 characters with space around them: %v", err)
	}
}
