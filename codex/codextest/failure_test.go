package codextest_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
)

// What Codex 0.160.1 makes of a model that fails in a turn it started for a goal, with retries off: it asks once, the
// turn fails, and the goal is active no more.
func TestFailureOfTheModelStopsTheGoal(t *testing.T) {
	t.Parallel()
	rows := []struct {
		failure string
		reply   codextest.Reply
		goal    string // status of the goal afterwards
		info    string // codexErrorInfo of the turn's error
	}{
		{"HTTP 500", codextest.Reply{codextest.ServerError()}, "blocked", `"internalServerError"`},
		{"HTTP 429 rate limit", codextest.Reply{codextest.RateLimited()}, "blocked", `{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`},
		{"HTTP 429 usage limit", codextest.Reply{codextest.UsageLimitReached()}, "usageLimited", `"usageLimitExceeded"`},
		{"HTTP 401", codextest.Reply{codextest.Unauthorized()}, "blocked", `{"httpConnectionFailed":{"httpStatusCode":401}}`},
		{"HTTP 400", codextest.Reply{codextest.BadRequest("no such model")}, "blocked", `"other"`},
		{"HTTP 503", codextest.Reply{codextest.Overloaded()}, "blocked", `"serverOverloaded"`},
		{"context window", codextest.Reply{codextest.Failed("context_length_exceeded", "too long")}, "blocked", `"contextWindowExceeded"`},
		{"quota", codextest.Reply{codextest.Failed("insufficient_quota", "no credit")}, "usageLimited", `"usageLimitExceeded"`},
		{"other failure", codextest.Reply{codextest.Text("Well,"), codextest.Failed("boom", "it broke")}, "blocked", `"other"`},
		{"cut before output", codextest.Reply{codextest.Cut()}, "blocked", `"other"`},
		{"cut in a message", codextest.Reply{codextest.Text("Half a sen"), codextest.Cut()}, "blocked", `"other"`},
	}
	replies := make(map[string]codextest.Reply)
	for _, row := range rows {
		replies[row.failure] = row.reply
	}
	model := codextest.StartModel(t, func(r codextest.Request) codextest.Reply { return replies[r.Objective()] })
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	server := startAppServer(t, home)

	for i, row := range rows {
		thread := server.startThread(home)
		server.call("thread/goal/set", map[string]any{"threadId": thread, "objective": row.failure}, nil)
		completed := await[turnEvent](server, "turn/completed", nil).Turn
		var got struct{ Goal goal }
		server.call("thread/goal/get", map[string]any{"threadId": thread}, &got)
		if completed.Status != "failed" || got.Goal.Status != row.goal {
			t.Errorf("%s: turn %s, goal %s; want turn failed, goal %s", row.failure, completed.Status, got.Goal.Status, row.goal)
		}
		if completed.Error == nil || !equalJSON(t, completed.Error.CodexErrorInfo, row.info) {
			t.Errorf("%s: error %+v, want %s", row.failure, completed.Error, row.info)
		}
		if n := len(model.Requests()); n != i+1 {
			t.Fatalf("%s: the model has been asked %d times in all, want %d", row.failure, n, i+1)
		}
	}
}

func equalJSON(t *testing.T, got json.RawMessage, want string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(a, b)
}
