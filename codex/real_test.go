package codex_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
)

func TestRealCodexStartsAThreadInOrder(t *testing.T) {
	ctx := t.Context()
	began := time.Now()
	c, err := codex.Start(ctx, codex.Options{Env: []string{"CODEX_HOME=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(began), c.Server())
	s := c.Subscribe(codex.SubscribeOptions{Replies: true})
	id := codex.Dispatch(c, protocol.ThreadStartMethod, protocol.ThreadStartParams{})
	id2 := codex.Dispatch(c, protocol.ThreadLoadedListMethod, protocol.ThreadLoadedListParams{})
	for {
		e, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d %s %T %v", e.Seq, e.Method, e.Notification, e.Reply)
		if e.Reply != nil {
			t.Logf("%T %v", e.Reply.Result, e.Reply.Err)
			if e.Reply.Call == id {
				break
			}
			if e.Reply.Call != id2 {
				t.Fatal("?")
			}
		}
	}
	_, err = codex.Call(ctx, c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: "nope"})
	t.Log(err)
	if codex.DeliveryOf(err) != codex.Rejected {
		t.Fatal(err)
	}
	t.Logf("%+v", c.Stats())
	began = time.Now()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	t.Log("close", time.Since(began), c.Err(), c.Server().Process.Alive())
	for {
		e, err := s.Next(context.Background())
		if err != nil {
			t.Log(err)
			if !errors.Is(err, codex.ErrClosed) {
				t.Fatal(err)
			}
			break
		}
		t.Logf("%d %s %T %v", e.Seq, e.Method, e.Notification, e.Reply)
	}
	_ = os.Stderr
}
