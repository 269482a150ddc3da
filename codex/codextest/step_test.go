package codextest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex/codextest"
)

func texts(items []item, kind string) []string {
	var texts []string
	for _, it := range items {
		if it.Type == kind {
			texts = append(texts, it.Text)
		}
	}
	return texts
}

func TestTextArrivesInTheDeltasAndMessagesOfTheScript(t *testing.T) {
	t.Parallel()
	model := codextest.StartModel(t, codextest.InOrder(codextest.Reply{
		codextest.Paced("one two three", time.Millisecond), codextest.Text(" four"),
		codextest.NewMessage(),
		codextest.Text("another message"),
	}))
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	server := startAppServer(t, home)

	turn := server.prompt(server.startThread(home), "Count to four")
	var deltas []string
	for range 5 {
		deltas = append(deltas, await[struct{ Delta string }](server, "item/agentMessage/delta", nil).Delta)
	}
	if want := []string{"one ", "two ", "three", " four", "another message"}; !slices.Equal(deltas, want) {
		t.Errorf("deltas %q, want %q", deltas, want)
	}
	server.mark = 0
	_, items := server.completed(turn)
	if got, want := texts(items, "agentMessage"), []string{"one two three four", "another message"}; !slices.Equal(got, want) {
		t.Errorf("messages %q, want %q", got, want)
	}
	request := model.Requests()[0]
	if !request.Heard("Count to four") || request.Objective() != "" || request.Trigger != "" {
		t.Errorf("the model heard the prompt: %v, objective %q, trigger %q", request.Heard("Count to four"), request.Objective(), request.Trigger)
	}
}

func TestToolCallsRunAndTheirOutputIsHeard(t *testing.T) {
	t.Parallel()
	model := codextest.StartModel(t, codextest.InOrder(
		codextest.Reply{codextest.CallID("call_shell", "exec_command", map[string]any{"cmd": "echo out of the shell"})},
		codextest.Reply{codextest.ApplyPatch("*** Begin Patch\n*** Add File: note.txt\n+written by a patch\n*** End Patch\n")},
		codextest.Reply{codextest.Compute(func(r codextest.Request) codextest.Reply {
			return codextest.Reply{codextest.Text("I was offered " + strings.Join(r.Tools, " "))}
		})},
	))
	home := codextest.TempHome(t, model, codextest.HomeOptions{
		Settings: map[string]string{"sandbox_mode": `"danger-full-access"`},
	})
	server := startAppServer(t, home)

	end, items := server.completed(server.prompt(server.startThread(home), "Write a note"))
	if end.Turn.Status != "completed" {
		t.Errorf("turn %+v, want completed", end.Turn)
	}
	if note, err := os.ReadFile(filepath.Join(home.Work, "note.txt")); string(note) != "written by a patch\n" {
		t.Errorf("the patch left %q (%v)", note, err)
	}
	requests := model.Requests()
	if len(requests) != 3 {
		t.Fatalf("the model was asked %d times, want 3", len(requests))
	}
	if output, found := requests[1].Output("call_shell"); !found || !strings.Contains(output, "out of the shell") {
		t.Errorf("output of the command: %q, %v", output, found)
	}
	if !requests[2].Heard("note.txt") || requests[1].Heard("note.txt") {
		t.Error("the outcome of the patch is not in the request that follows it")
	}
	if requests[2].Heard("echo out of the shell") {
		t.Error("the model's own call counts as something it was told")
	}
	answer := texts(items, "agentMessage")
	if len(answer) != 1 || !strings.Contains(answer[0], "exec_command") || !strings.Contains(answer[0], "apply_patch") {
		t.Errorf("answer %q", answer)
	}
}

func TestInterruptFreesAnAnswerThatWaitsAtAGate(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	model := codextest.StartModel(t, codextest.InOrder(
		codextest.Reply{codextest.Text("I shall"), gate},
		codextest.Reply{codextest.Text("Here I am.")},
	))
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	server := startAppServer(t, home)
	thread := server.startThread(home)

	turn := server.prompt(thread, "Wait")
	if err := gate.WaitReached(server.ctx); err != nil {
		t.Fatal(err)
	}
	await[turnEvent](server, "turn/started", nil)
	server.call("turn/interrupt", map[string]any{"threadId": thread, "turnId": turn}, nil)
	if end, _ := server.completed(turn); end.Turn.Status != "interrupted" {
		t.Errorf("turn %s, want interrupted", end.Turn.Status)
	}
	if err := model.WaitIdle(server.ctx); err != nil {
		t.Errorf("the answer at the gate goes on: %v", err)
	}
	if end, _ := server.completed(server.prompt(thread, "Go on")); end.Turn.Status != "completed" {
		t.Errorf("turn after the interrupt: %s, want completed", end.Turn.Status)
	}
}

func TestGoalIsChargedWithTheTokensOfTheScript(t *testing.T) {
	t.Parallel()
	model := codextest.StartModel(t, codextest.InOrder(
		codextest.Reply{codextest.Text("Counting."), codextest.Usage{Input: 1000, Cached: 400, Output: 50, Reasoning: 30}},
		codextest.Reply{codextest.Exec("true"), codextest.Usage{Input: 300, Output: 7}},
		codextest.Reply{codextest.UpdateGoal("complete"), codextest.Usage{}},
		codextest.Reply{codextest.Text("Counted."), codextest.Usage{Input: 11, Output: 2}},
	))
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	server := startAppServer(t, home)
	thread := server.startThread(home)

	server.call("thread/goal/set", map[string]any{"threadId": thread, "objective": "Count"}, nil)
	await[turnEvent](server, "turn/completed", nil)
	await(server, "thread/goal/updated", func(u goalUpdated) bool { return u.Goal.Status == "complete" })
	await[turnEvent](server, "turn/completed", nil)

	// Cached input is free, and so is what the model says once the goal is complete.
	var got struct{ Goal goal }
	server.call("thread/goal/get", map[string]any{"threadId": thread}, &got)
	if want := int64(1000 - 400 + 50 + 300 + 7); got.Goal.TokensUsed != want {
		t.Errorf("the goal was charged %d tokens, want %d", got.Goal.TokensUsed, want)
	}
}

func TestQuestionReachesTheClientAndItsAnswerTheModel(t *testing.T) {
	t.Parallel()
	model := codextest.StartModel(t, codextest.InOrder(
		codextest.Reply{codextest.Ask(codextest.Question{ID: "colour", Header: "Colour", Text: "Which colour?", Options: []string{"red", "blue"}})},
		codextest.Reply{codextest.Text("Blue it is.")},
	))
	home := codextest.TempHome(t, model, codextest.HomeOptions{
		Settings: map[string]string{"features.default_mode_request_user_input": "true"},
	})
	server := startAppServer(t, home)

	turn := server.prompt(server.startThread(home), "Ask me")
	at, asked := server.find("question", server.mark, func(m message) bool { return m.Method == "item/tool/requestUserInput" })
	server.mark = at
	server.write(map[string]any{"id": asked.ID, "result": map[string]any{
		"answers": map[string]any{"colour": map[string]any{"answers": []string{"blue"}}},
	}})
	server.completed(turn)
	requests := model.Requests()
	if len(requests) != 2 || !requests[1].Heard("blue") {
		t.Errorf("after %d requests the model has not heard the answer", len(requests))
	}
}

func TestProposedPlanBecomesAPlanItemInPlanMode(t *testing.T) {
	t.Parallel()
	model := codextest.StartModel(t, codextest.InOrder(codextest.Reply{
		codextest.Text("Here is how.\n"), codextest.ProposePlan("# Plan\n- first\n- second"),
	}))
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	server := startAppServer(t, home)

	var started struct{ Turn struct{ ID string } }
	server.call("turn/start", map[string]any{
		"threadId": server.startThread(home), "input": []any{map[string]any{"type": "text", "text": "Plan it"}},
		"collaborationMode": map[string]any{"mode": "plan", "settings": map[string]any{"model": "gpt-5.5"}},
	}, &started)
	_, items := server.completed(started.Turn.ID)
	if got, want := texts(items, "plan"), []string{"# Plan\n- first\n- second\n"}; !slices.Equal(got, want) {
		t.Errorf("plan items %q, want %q", got, want)
	}
}
