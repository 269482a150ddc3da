package codex_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
)

func TestWhatPassesIsCountedAndWhatIsOddIsLoggedButNotForEver(t *testing.T) {
	noise := codextest.On(trigger)
	for range 100 {
		noise.Raw("what?\n")
	}
	noise.Raw(`{"id":4711,"result":1}` + "\n").Notify("some/day", nil).Answer(map[string]any{"data": []string{}})
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
