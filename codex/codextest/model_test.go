package codextest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex/codextest"
)

// ask makes a request of a turn as Codex would and returns the status and body of the answer.
func ask(t *testing.T, m *codextest.Model, turn string, input ...any) (int, string, error) {
	t.Helper()
	metadata, err := json.Marshal(map[string]any{"turn_id": turn, "turn_trigger": "goal", "request_kind": "turn"})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{
		"input":           input,
		"client_metadata": map[string]any{"x-codex-turn-metadata": string(metadata)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return post(t, m.URL()+"/responses", string(body), nil)
}

func post(t *testing.T, url, body string, header http.Header) (int, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

// said returns the deltas in an event stream, joined.
func said(t *testing.T, stream string) string {
	t.Helper()
	var text strings.Builder
	for line := range strings.Lines(stream) {
		data, found := strings.CutPrefix(line, "data: ")
		if !found {
			continue
		}
		var event struct{ Type, Delta string }
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("event %q: %v", data, err)
		}
		text.WriteString(event.Delta)
	}
	return text.String()
}

// newModel starts a model whose script is expected to fail.
func newModel(t *testing.T, script codextest.Script) *codextest.Model {
	t.Helper()
	m, err := codextest.NewModel(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func TestRequestBeyondTheScriptIsRefusedAndRemembered(t *testing.T) {
	m := newModel(t, codextest.InOrder(codextest.Reply{codextest.Text("only this")}))
	if status, body, err := ask(t, m, "turn-1"); status != http.StatusOK || said(t, body) != "only this" || err != nil {
		t.Fatalf("first answer: %d %q %v", status, body, err)
	}
	if err := m.Err(); err != nil {
		t.Fatal(err)
	}
	status, body, err := ask(t, m, "turn-2")
	if status != http.StatusBadRequest || !strings.Contains(body, `no reply for request 2`) || err != nil {
		t.Errorf("second answer: %d %q %v", status, body, err)
	}
	if _, err := m.WaitRequests(t.Context(), 3); err == nil || !strings.Contains(err.Error(), `turn "turn-2"`) {
		t.Errorf("waiting for more: %v, want the script's failure", err)
	}
	if err := m.Close(); err == nil || !strings.Contains(err.Error(), "request 2") {
		t.Errorf("close: %v, want the script's failure", err)
	}
}

func TestEachTurnGetsRepliesOfItsOwn(t *testing.T) {
	text := func(s string) codextest.Reply { return codextest.Reply{codextest.Text(s)} }
	m := codextest.StartModel(t, codextest.PerTurn(
		[]codextest.Reply{text("a1"), text("a2")},
		[]codextest.Reply{text("b1")},
	).Then(codextest.Always(text("rest"))))
	var got []string
	for _, turn := range []string{"a", "b", "a", "b", "a", "c"} {
		_, body, err := ask(t, m, turn)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, said(t, body))
	}
	if want := []string{"a1", "b1", "a2", "rest", "rest", "rest"}; !slices.Equal(got, want) {
		t.Errorf("answers %q, want %q", got, want)
	}
}

func TestWhatIsNotAResponsesRequestIsRefusedAndRemembered(t *testing.T) {
	rows := []struct{ name, path, body, encoding, want string }{
		{"another endpoint", "/models", `{}`, "", "does not serve"},
		{"no JSON", "/responses", `{`, "", "unexpected end of JSON"},
		{"compressed", "/responses", `x`, "zstd", "enable_request_compression"},
		{"turn metadata that is no string", "/responses", `{"client_metadata":{"x-codex-turn-metadata":{}}}`, "", "turn metadata"},
		{"turn metadata that is no JSON", "/responses", `{"client_metadata":{"x-codex-turn-metadata":"x"}}`, "", "turn metadata"},
		{"input that is no object", "/responses", `{"input":[1]}`, "", "input"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			m := newModel(t, codextest.Always(codextest.Reply{}))
			header := make(http.Header)
			if row.encoding != "" {
				header.Set("Content-Encoding", row.encoding)
			}
			status, body, err := post(t, m.URL()+row.path, row.body, header)
			if status != http.StatusBadRequest || !strings.Contains(body, row.want) || err != nil {
				t.Errorf("answer %d %q %v, want a refusal with %q", status, body, err, row.want)
			}
			if err := m.Err(); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v, want one with %q", err, row.want)
			}
		})
	}
}

func TestReplyThatCannotBePlayedFailsTheScript(t *testing.T) {
	rows := []struct {
		name  string
		reply codextest.Reply
		want  string
	}{
		{"HTTP error after text", codextest.Reply{codextest.Text("x"), codextest.ServerError()}, "cannot follow output"},
		{"step after the end", codextest.Reply{codextest.Failed("boom", "x"), codextest.Text("x")}, "ended before the last step"},
		{"nil step", codextest.Reply{nil}, "is nil"},
		{"arguments that do not encode", codextest.Reply{codextest.Call("tool", func() {})}, "arguments of tool"},
		{"item that is no JSON", codextest.Reply{codextest.Item(json.RawMessage("{"))}, "encode"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			m := newModel(t, codextest.Always(row.reply))
			_, _, _ = ask(t, m, "turn")
			if err := m.WaitIdle(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := m.Err(); err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), "request 1") {
				t.Errorf("error %v, want one with %q", err, row.want)
			}
		})
	}
}

func TestWaitsEndWithTheirContextAndSayWhatTheModelGot(t *testing.T) {
	m := codextest.StartModel(t, codextest.Always(codextest.Reply{}))
	if _, _, err := ask(t, m, "turn-1"); err != nil {
		t.Fatal(err)
	}
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := m.WaitRequests(ctx, 2); !errors.Is(err, reason) || !strings.Contains(err.Error(), `turn "turn-1"`) {
		t.Errorf("WaitRequests: %v", err)
	}
	if _, err := m.WaitRequest(ctx, func(codextest.Request) bool { return false }); !errors.Is(err, reason) {
		t.Errorf("WaitRequest: %v", err)
	}
	if requests, err := m.WaitRequests(ctx, 1); err != nil || len(requests) != 1 {
		t.Errorf("WaitRequests for what is there: %d, %v", len(requests), err)
	}
	gate := codextest.NewGate()
	if err := gate.WaitReached(ctx); !errors.Is(err, reason) {
		t.Errorf("WaitReached: %v", err)
	}
}

func TestWaitSeesTheRequestThatComesLater(t *testing.T) {
	m := codextest.StartModel(t, codextest.Always(codextest.Reply{}))
	found := make(chan string)
	go func() {
		r, err := m.WaitRequest(t.Context(), func(r codextest.Request) bool { return r.Turn == "turn-3" })
		found <- fmt.Sprint(r.N, err)
	}()
	for _, turn := range []string{"turn-1", "turn-2", "turn-3"} {
		if _, _, err := ask(t, m, turn); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-found; got != "3 <nil>" {
		t.Errorf("found request %s, want 3", got)
	}
}

func TestWaitObjectiveFindsTheOldestRequestToldOfIt(t *testing.T) {
	m := codextest.StartModel(t, codextest.Always(codextest.Reply{}))
	goal := func(objective string) map[string]any {
		return map[string]any{"type": "message", "role": "user", "content": "<codex_internal_context source=\"goal\">\n<objective>\n" + objective + "\n</objective>\n</codex_internal_context>"}
	}
	found := make(chan string)
	go func() {
		r, err := m.WaitObjective(t.Context(), "objective 1")
		found <- fmt.Sprint(r.Turn, err)
	}()
	// One objective may begin like another, and is told again with every request behind it.
	for _, told := range [][]any{{goal("objective 10")}, {goal("objective 10"), goal("objective 1")}, {goal("objective 10"), goal("objective 1")}} {
		if _, _, err := ask(t, m, fmt.Sprintf("turn-%d", len(m.Requests())+1), told...); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-found; got != "turn-2<nil>" {
		t.Errorf("found %s, want turn-2", got)
	}
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := m.WaitObjective(ctx, "another"); !errors.Is(err, reason) || !strings.Contains(err.Error(), `"another"`) {
		t.Errorf("WaitObjective: %v", err)
	}
}

func TestCloseCutsWhatWaitsAndEndsEveryWait(t *testing.T) {
	gate := codextest.NewGate()
	m := newModel(t, codextest.Always(codextest.Reply{codextest.Text("x"), gate}))
	answered, waited := make(chan error), make(chan error)
	go func() {
		_, _, err := ask(t, m, "turn")
		answered <- err
	}()
	go func() {
		_, err := m.WaitRequests(t.Context(), 2)
		waited <- err
	}()
	if err := gate.WaitReached(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-answered; err == nil {
		t.Error("the answer at the gate came to a good end")
	}
	if err := <-waited; err == nil {
		t.Error("waiting for a second request succeeded")
	}
	if err := m.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestDelayAndPaceEndWithTheModel(t *testing.T) {
	for _, slow := range []codextest.Step{codextest.Delay(time.Hour), codextest.Paced("one two", time.Hour)} {
		gate := codextest.NewGate()
		gate.Open()
		m := newModel(t, codextest.Always(codextest.Reply{gate, slow}))
		answered := make(chan error)
		go func() {
			_, _, err := ask(t, m, "turn")
			answered <- err
		}()
		if err := gate.WaitReached(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-answered; err == nil {
			t.Error("the slow answer came to a good end")
		}
	}
}
