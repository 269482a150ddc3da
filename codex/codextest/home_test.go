package codextest_test

import (
	"strings"
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
)

func TestNothingOfTheUserReachesCodex(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "leaked-key", "CODEX_API_KEY": "leaked-key", "CODEX_HOME": "/leaked-home",
		"HTTP_PROXY": "http://leaked-proxy.invalid", "HTTPS_PROXY": "http://leaked-proxy.invalid", "ALL_PROXY": "http://leaked-proxy.invalid",
		"XDG_CONFIG_HOME": "/leaked-config", "RUST_LOG": "leaked=trace",
	} {
		t.Setenv(name, value)
	}
	model := codextest.StartModel(t, codextest.InOrder(
		codextest.Reply{codextest.CallID("call_env", "exec_command", map[string]any{"cmd": "env; echo HOME has $(ls -A ~ | wc -l) files"})},
		codextest.Reply{codextest.Text("I see.")},
	))
	home := codextest.TempHome(t, model, codextest.HomeOptions{Settings: map[string]string{"sandbox_mode": `"danger-full-access"`}})
	server := startAppServer(t, home)

	server.completed(server.prompt(server.startThread(home), "Look around"))
	requests := model.Requests()
	if len(requests) != 2 {
		t.Fatalf("the model was asked %d times, want 2", len(requests))
	}
	output, _ := requests[1].Output("call_env")
	if strings.Contains(output, "leaked") || !strings.Contains(output, "PATH=") {
		t.Errorf("the command's environment: %s", output)
	}
	for _, r := range requests {
		for name := range r.Header {
			if strings.EqualFold(name, "Authorization") {
				t.Errorf("request %d carries credentials", r.N)
			}
		}
		if strings.Contains(string(r.Body), "leaked") {
			t.Errorf("request %d tells the model something of the user's environment", r.N)
		}
	}
}

func TestSecondModelGoesOnWithTheThreadsOfTheFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var thread string
	var remembered bool
	for n, answer := range []string{"first answer", "second answer"} {
		model := codextest.StartModel(t, codextest.InOrder(codextest.Reply{codextest.Text(answer)}))
		home, err := codextest.NewHome(dir, model.URL(), codextest.HomeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		server := startAppServer(t, home)
		if n == 0 {
			thread = server.startThread(home)
		} else {
			server.call("thread/resume", map[string]any{"threadId": thread, "excludeTurns": true}, nil)
		}
		server.completed(server.prompt(thread, "Say something"))
		server.stop()
		ids := make(map[string]bool)
		for _, in := range model.Requests()[0].Input {
			id := decode[struct{ ID string }](t, in.Raw).ID
			if id != "" && ids[id] {
				t.Errorf("two items of the context are called %s", id)
			}
			ids[id] = true
			remembered = remembered || in.Role == "assistant" && in.Text == "first answer"
		}
	}
	if !remembered {
		t.Error("the second model was not given the first one's answer")
	}
}

func TestGoneModelFailsTheTurnAtOnce(t *testing.T) {
	t.Parallel()
	model := codextest.StartModel(t, codextest.Always(codextest.Reply{}))
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	server := startAppServer(t, home)
	if err := model.Close(); err != nil {
		t.Fatal(err)
	}
	end, _ := server.completed(server.prompt(server.startThread(home), "Anyone there?"))
	if end.Turn.Status != "failed" || string(end.Turn.Error.CodexErrorInfo) != `{"httpConnectionFailed":{"httpStatusCode":null}}` {
		t.Errorf("turn %+v, want one that failed to connect", end.Turn)
	}
}

func TestScriptThatRanOutFailsTheTurnWithItsReason(t *testing.T) {
	t.Parallel()
	model := newModel(t, codextest.InOrder())
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	server := startAppServer(t, home)
	end, _ := server.completed(server.prompt(server.startThread(home), "Say something"))
	if end.Turn.Status != "failed" || !strings.Contains(end.Turn.Error.Message, "the script has no reply for request 1") {
		t.Errorf("turn %+v, want one that failed for want of a script", end.Turn)
	}
}

func TestSettingsReplaceAndExtendTheConfiguration(t *testing.T) {
	t.Parallel()
	model := codextest.StartModel(t, codextest.Always(codextest.Reply{}))
	home := codextest.TempHome(t, model, codextest.HomeOptions{
		Settings: map[string]string{"model": `"gpt-5.4"`, "features.goals": "false", "web_search": ""},
		Tables:   "[shell_environment_policy]\ninherit = \"none\"\n",
	})
	server := startAppServer(t, home)
	thread := server.startThread(home)
	server.completed(server.prompt(thread, "Say nothing"))
	if asked := model.Requests()[0].Model; asked != "gpt-5.4" {
		t.Errorf("Codex asked for model %q, want gpt-5.4", asked)
	}
	if m := server.try("thread/goal/get", map[string]any{"threadId": thread}); m.Error == nil || m.Error.Message != "goals feature is disabled" {
		t.Errorf("thread/goal/get with goals off: %+v", m.Error)
	}
}
