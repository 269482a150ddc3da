package codex_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

func TestWhatPassesIsCountedAndWhatIsOddIsLoggedButNotForEver(t *testing.T) {
	noise := codextest.On(trigger)
	for range 100 {
		noise.Raw("what?\n")
	}
	noise.Raw(`{"id":4711,"result":1}`+"\n").Notify("some/day", nil).Answer(map[string]any{"data": []string{}})
	var log bytes.Buffer
	peer := codextest.NewPeer(noise)
	c := start(t, peer, codex.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	c.Subscribe(codex.SubscribeOptions{})
	pull(t, c)
	_ = c.Close()
	s := c.Stats()
	if s.Noise != 100 || s.UnknownReplies != 1 || s.UnknownMethods != 1 || s.Received != 104 || s.Sent != 3 {
		t.Errorf("%+v", s)
	}
	if s.SentBytes < 100 || s.ReceivedBytes < 100*uint64(len("what?")) {
		t.Errorf("%d bytes sent, %d received", s.SentBytes, s.ReceivedBytes)
	}
	if n := strings.Count(log.String(), "no frame"); n != 7 { // 1, 2, 4 … 64
		t.Errorf("noise was logged %d times", n)
	}
	for _, want := range []string{"never used", "4711", "some/day"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q was not logged", want)
		}
	}
}

func TestTraceShowsARequestBeforeItsAnswer(t *testing.T) {
	peer := codextest.NewPeer(codextest.On("thread/goal/get").Answer(map[string]any{}))
	var trace bytes.Buffer
	c := start(t, peer, codex.Options{Trace: &trace})
	for range 200 {
		if _, err := codex.Call(t.Context(), c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: "T"}); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.Close()
	asked := make(map[int]bool)
	for line := range strings.Lines(trace.String()) {
		var l struct {
			Dir   string
			Frame struct{ ID *int }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		switch id := l.Frame.ID; {
		case id == nil:
		case l.Dir == "out":
			asked[*id] = true
		case !asked[*id]:
			t.Fatalf("the answer to %d stands before the request", *id)
		}
	}
	if len(asked) != 201 {
		t.Errorf("%d requests in the trace", len(asked))
	}
}
