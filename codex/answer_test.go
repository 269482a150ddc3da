package codex_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// told is what a subscriber has heard of server requests, in order.
func told(t *testing.T, s *codex.Subscription, n int) (lines []string) {
	t.Helper()
	last := uint64(0)
	for range n {
		e := next(t, s)
		if e.Seq <= last {
			t.Errorf("%+v comes after %d", e, last)
		}
		last = e.Seq
		switch {
		case e.Request != nil:
			lines = append(lines, "asked "+e.Request.ID)
		case e.Answer != nil:
			decision := "none"
			if r, ok := e.Answer.Response.(*fileApproval); ok {
				decision = string(r.Decision)
			}
			a := e.Answer
			lines = append(lines, fmt.Sprintf("answered %s by %s: %s %s %s", a.Request.ID, a.By, decision, a.Who, a.Reason))
		default:
			lines = append(lines, e.Method)
		}
	}
	return lines
}

func TestEachServerRequestIsToldBeforeItsAnswer(t *testing.T) {
	for name, row := range map[string]struct {
		handler codex.Handler[protocol.FileChangeRequestApprovalParams, fileApproval] // nil: none
		after   func(peer *codextest.Peer, c *codex.Client, id int)
		want    []string // %d is the id
	}{
		"its handler": {
			handler: func(ctx context.Context, _ *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
				codex.NoteAnswer(ctx, "me", "why not")
				return accept, nil
			},
			want: []string{"answered %d by handler: accept me why not"},
		},
		"no handler": {want: []string{"answered %d by refusal: decline  "}},
		"a handler that fails": {
			handler: func(context.Context, *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
				return accept, errors.New("broken")
			},
			want: []string{"answered %d by refusal: decline  "},
		},
		"time": {
			handler: func(ctx context.Context, _ *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
				<-ctx.Done()
				return accept, context.Cause(ctx)
			},
			after: func(*codextest.Peer, *codex.Client, int) { time.Sleep(2 * time.Minute) },
			want:  []string{"answered %d by timeout: decline  "},
		},
		"Codex": {
			handler: untilEnd,
			after: func(peer *codextest.Peer, _ *codex.Client, id int) {
				peer.Notify("serverRequest/resolved", map[string]any{"threadId": "T", "requestId": id})
			},
			want: []string{"answered %d by resolved: none  ", "serverRequest/resolved"},
		},
		"the end of its turn": {
			handler: untilEnd,
			after: func(peer *codextest.Peer, _ *codex.Client, _ int) {
				for _, turn := range []string{"another", "U"} {
					peer.Notify("turn/completed", map[string]any{"threadId": "T", "turn": map[string]any{"id": turn, "items": []any{}, "status": "interrupted"}})
				}
			},
			want: []string{"turn/completed", "answered %d by resolved: decline  ", "turn/completed"},
		},
		"the end of the connection": {
			handler: untilEnd,
			after:   func(_ *codextest.Peer, c *codex.Client, _ int) { _ = c.Close() },
			want:    []string{"answered %d by closed: none  "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				peer := codextest.NewPeer()
				o := approve(row.handler)
				o.HandlerTimeout = time.Minute
				c := start(t, peer, o)
				defer c.Close()
				s := c.Subscribe(codex.SubscribeOptions{Thread: "T"})
				stranger := c.Subscribe(codex.SubscribeOptions{Thread: "another"})
				id := peer.Ask(fileChange, map[string]any{"threadId": "T", "turnId": "U", "itemId": "I", "startedAtMs": 1})
				synctest.Wait()
				if row.after != nil {
					row.after(peer, c, id)
					synctest.Wait()
				}
				want := []string{fmt.Sprintf("asked %d", id)}
				for _, line := range row.want {
					if line[0] == 'a' {
						line = fmt.Sprintf(line, id)
					}
					want = append(want, line)
				}
				if diff := cmp.Diff(want, told(t, s, len(want))); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				c.Close()
				if e, err := stranger.Next(t.Context()); err == nil && (e.Request != nil || e.Answer != nil) {
					t.Errorf("another thread's subscriber was told %+v", e)
				}
			})
		})
	}
}

func untilEnd(ctx context.Context, _ *protocol.FileChangeRequestApprovalParams) (fileApproval, error) {
	<-ctx.Done()
	return accept, nil
}
