package codextest_test

import (
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
)

func TestGoalRunsOnTheScriptedModelUntilTheModelCompletesIt(t *testing.T) {
	t.Parallel()
	model := codextest.StartModel(t, codextest.InOrder(
		codextest.Reply{codextest.Text("Reading the parser."), codextest.Usage{Input: 200, Output: 30}},
		codextest.Reply{codextest.UpdateGoal("complete"), codextest.Usage{Input: 300, Output: 40}},
		codextest.Reply{codextest.Text("The parser is fixed."), codextest.Usage{Input: 400, Output: 50}},
	))
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	server := startAppServer(t, home)
	thread := server.startThread(home)

	server.call("thread/goal/set", map[string]any{"threadId": thread, "objective": "Fix the parser"}, nil)
	first := await[turnEvent](server, "turn/started", nil).Turn.ID
	await[turnEvent](server, "turn/completed", nil)
	second := await[turnEvent](server, "turn/started", nil).Turn.ID
	done := await(server, "thread/goal/updated", func(u goalUpdated) bool { return u.Goal.Status == "complete" })
	if done.TurnID == nil || *done.TurnID != second {
		t.Errorf("the goal was completed in turn %v, want %s", done.TurnID, second)
	}
	await(server, "turn/completed", func(e turnEvent) bool { return e.Turn.ID == second })

	requests := model.Requests()
	if len(requests) != 3 {
		t.Fatalf("the model was asked %d times, want 3", len(requests))
	}
	for i, want := range []string{first, second, second} {
		r := requests[i]
		if r.Turn != want || r.Thread != thread || r.Trigger != "goal" || r.Kind != "turn" || r.N != i+1 {
			t.Errorf("request %d is of thread %s, turn %s, trigger %q, kind %q; want turn %s of thread %s", r.N, r.Thread, r.Turn, r.Trigger, r.Kind, want, thread)
		}
		if !r.Heard("Fix the parser") || r.Objective() != "Fix the parser" {
			t.Errorf("request %d: heard objective %q", r.N, r.Objective())
		}
	}
}

func TestReplacedObjectiveReachesTheTurnThatIsRunning(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	model := codextest.StartModel(t, codextest.InOrder(
		codextest.Reply{codextest.Text("Working on the first"), gate, codextest.Text(" objective.")},
		codextest.Reply{codextest.Text("Turning to the second.")},
		codextest.Reply{codextest.UpdateGoal("complete")},
		codextest.Reply{codextest.Text("Done.")},
	))
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	server := startAppServer(t, home)
	thread := server.startThread(home)

	server.call("thread/goal/set", map[string]any{"threadId": thread, "objective": "the first objective"}, nil)
	running := await[turnEvent](server, "turn/started", nil).Turn.ID
	if err := gate.WaitReached(server.ctx); err != nil {
		t.Fatal(err)
	}
	server.call("thread/goal/set", map[string]any{"threadId": thread, "objective": "second & <better>"}, nil)
	gate.Open()
	await(server, "thread/goal/updated", func(u goalUpdated) bool { return u.Goal.Status == "complete" })
	later := await[turnEvent](server, "turn/completed", nil).Turn.ID

	requests := model.Requests()
	if len(requests) != 4 {
		t.Fatalf("the model was asked %d times, want 4", len(requests))
	}
	if later == running {
		t.Error("the goal was completed in the turn that heard both objectives, want a later one")
	}
	for i, want := range []struct {
		turn, objective string
		heard           bool
	}{
		{running, "the first objective", false},
		{running, "second & <better>", true},
		{later, "second & <better>", true},
		{later, "second & <better>", true},
	} {
		r := requests[i]
		if r.Turn != want.turn || r.Objective() != want.objective || r.Heard("second & <better>") != want.heard {
			t.Errorf("request %d: turn %s, objective %q, heard of the second: %v; want %+v", r.N, r.Turn, r.Objective(), r.Heard("second & <better>"), want)
		}
	}
}
