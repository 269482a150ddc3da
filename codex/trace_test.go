package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTraceHidesSecretsAndNothingElse(t *testing.T) {
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.sflKxwRJSMeKKF2QT4"
	for frame, want := range map[string]string{
		`{"id":1,"method":"account/login/start","params":{"type":"apiKey","apiKey":"sk-123"}}`:                         `{"id":1,"method":"account/login/start","params":{"type":"apiKey","apiKey":"[masked]"}}`,
		`{"id":1,"result":{"accessToken":"a","refreshToken":true,"chatgptAccountId":"b"}}`:                             `{"id":1,"result":{"accessToken":"[masked]","refreshToken":true,"chatgptAccountId":"b"}}`,
		`{"params":{"goal":{"tokenBudget":50,"tokensUsed":1},"tokenUsage":{"total":{"totalTokens":3}}}}`:               `{"params":{"goal":{"tokenBudget":50,"tokensUsed":1},"tokenUsage":{"total":{"totalTokens":3}}}}`,
		`{"params":{"env":{"OPENAI_API_KEY":"x","GITHUB_TOKEN":"y","PATH":"/bin"},"headers":{"Authorization":["z"]}}}`: `{"params":{"env":{"OPENAI_API_KEY":"[masked]","GITHUB_TOKEN":"[masked]","PATH":"/bin"},"headers":{"Authorization":["[masked]"]}}}`,
		`{"params":{"edits":[{"keyPath":"model_providers.x.api_key","value":"v"},{"keyPath":"model","value":"gpt"}]}}`: `{"params":{"edits":[{"keyPath":"model_providers.x.api_key","value":"[masked]"},{"keyPath":"model","value":"gpt"}]}}`,
		`{"params":{"delta":"use sk-abcdefghijklmnopqrst or Bearer abcdefghijk, never ` + jwt + `!"}}`:                 `{"params":{"delta":"use [masked] or [masked], never [masked]!"}}`,
		`{"params":{"client_secret":{"nested":["a",{"b":"c"}]},"userAuthorization":"high","keywords":["a"]}}`:          `{"params":{"client_secret":{"nested":["[masked]",{"b":"[masked]"}]},"userAuthorization":"high","keywords":["a"]}}`,
		`{"params":{"text":"\u2028 é \"quoted\"","empty":{},"list":[],"n":[1.50,null,true]}}`:                          `{"params":{"text":"` + "\u2028" + ` é \"quoted\"","empty":{},"list":[],"n":[1.50,null,true]}}`,
	} {
		var m masker
		got, ok := m.frame([]byte(frame), true)
		if !ok || string(got) != want {
			t.Errorf("%s\nbecame %s", frame, got)
		}
	}
	var m masker
	for _, line := range []string{`{"a":`, `no JSON`, ``, `{"a":1}}`} {
		if got, ok := m.frame([]byte(line), false); ok {
			t.Errorf("%q passed as %s", line, got)
		}
	}
}

func TestTraceHidesTheAnswerToASecretQuestion(t *testing.T) {
	var m masker
	ask := func(id string, secret string) {
		m.frame([]byte(`{"method":"item/tool/requestUserInput","id":`+id+`,"params":{"questions":[{"id":"q","isSecret":`+secret+`}]}}`), false)
	}
	ask("3", "true")
	ask("4", "false")
	for frame, want := range map[string]string{
		`{"id":3,"result":{"answers":{"q":{"answers":["hush"]}}}}`: `{"id":3,"result":{"answers":{"q":{"answers":["[masked]"]}}}}`,
		`{"id":4,"result":{"answers":{"q":{"answers":["loud"]}}}}`: `{"id":4,"result":{"answers":{"q":{"answers":["loud"]}}}}`,
	} {
		if got, _ := m.frame([]byte(frame), true); string(got) != want {
			t.Errorf("%s", got)
		}
	}
}

func TestTraceHasEveryFrameInOrder(t *testing.T) {
	var out bytes.Buffer
	var stats counters
	tr := newTracer(&out, &stats)
	tr.frame([]byte(`{"id":1,"method":"x","params":{"password":"p"}}`+"\n"), true)
	tr.frame([]byte("<not json> sk-abcdefghijklmnopqrst"), false)
	tr.frame([]byte(`{"id":1,"result":{}}`), false)
	tr.close()
	want := []traceLine{
		{Seq: 1, Dir: "out", Frame: json.RawMessage(`{"id":1,"method":"x","params":{"password":"[masked]"}}`)},
		{Seq: 2, Dir: "in", Text: "<not json> [masked]"},
		{Seq: 3, Dir: "in", Frame: json.RawMessage(`{"id":1,"result":{}}`)},
	}
	dec := json.NewDecoder(&out)
	for _, w := range want {
		var l traceLine
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if l.Seq != w.Seq || l.Dir != w.Dir || string(l.Frame) != string(w.Frame) || l.Text != w.Text || time.Since(l.At) > time.Minute || l.Lost != 0 {
			t.Errorf("got %+v %s", l, l.Frame)
		}
	}
	if dec.More() {
		t.Error("one more line")
	}
}

// stuck blocks in Write until it is let go, then fails.
type stuck struct{ reached, release chan struct{} }

func (s *stuck) Write([]byte) (int, error) {
	close(s.reached)
	<-s.release
	return 0, errors.New("broken")
}

func TestSlowTraceLosesFramesAndHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stats counters
		w := &stuck{make(chan struct{}), make(chan struct{})}
		tr := newTracer(w, &stats)
		frame := []byte(`{"x":"` + strings.Repeat("x", 1000) + `"}`)
		tr.limit = 16 * len(frame)
		tr.frame(frame, true)
		<-w.reached
		for range 20 {
			tr.frame(frame, true)
		}
		if n := stats.blind.Load(); n < 4 || n > 6 {
			t.Errorf("%d frames lost of 20", n)
		}
		tr.close() // returns
		tr.out = io.Discard
		w.reached = make(chan struct{})
		close(w.release)
		<-tr.drained
		newTracer(nil, &stats).close()
	})
}
