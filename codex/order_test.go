package codex_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

func updated(objective string) map[string]any {
	return map[string]any{"threadId": "T", "turnId": nil, "goal": goal(objective)}
}

func setGoal(c *codex.Client, objective string, opts ...codex.CallOption) codex.CallID {
	return codex.Dispatch(c, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: "T", Objective: protocol.Some(objective)}, opts...)
}

func TestReplyKeepsItsPlaceAmongNotifications(t *testing.T) {
	peer := codextest.NewPeer(codextest.On("thread/goal/set").
		Notify("thread/goal/updated", updated("old")).Notify("thread/goal/updated", updated("old")).
		Answer(map[string]any{"goal": goal("new")}).
		Notify("thread/goal/updated", updated("new")))
	c := start(t, peer, codex.Options{})
	s := c.Subscribe(codex.SubscribeOptions{Replies: true})
	const times = 1000
	for range times {
		setGoal(c, "new")
	}
	var seq uint64
	for n := range times {
		for place, want := range []string{"old", "old", "reply", "new"} {
			e := next(t, s)
			if e.Seq <= seq {
				t.Fatalf("number %d after %d", e.Seq, seq)
			}
			seq = e.Seq
			got := "reply"
			if e.Reply == nil {
				got = e.Notification.(*protocol.ThreadGoalUpdatedNotification).Goal.Objective
			} else if e.Reply.Call != codex.CallID(n+2) { // the first was initialize
				t.Fatalf("reply to call %d at round %d", e.Reply.Call, n)
			}
			if got != want {
				t.Fatalf("round %d, place %d: %s, want %s", n, place, got, want)
			}
		}
	}
}

func TestDispatchesOfOneThreadAreWrittenInOrderEvenWhenTheyWait(t *testing.T) {
	const times = 500
	peer := codextest.NewPeer(codextest.On("thread/goal/set").Answer(map[string]any{"goal": goal("x")}))
	c := start(t, peer, codex.Options{MaxInFlight: 3})
	s := c.Subscribe(codex.SubscribeOptions{Replies: true})
	for n := range times {
		setGoal(c, fmt.Sprint(n))
	}
	for n := range times {
		if e := next(t, s); e.Reply.Call != codex.CallID(n+2) || e.Reply.Err != nil {
			t.Fatalf("reply %d is to call %d: %v", n, e.Reply.Call, e.Reply.Err)
		}
	}
	for n, m := range peer.Received("thread/goal/set") {
		if want := fmt.Sprintf(`{"objective":"%d","threadId":"T"}`, n); string(m.Params) != want {
			t.Fatalf("request %d carries %s", n, m.Params)
		}
	}
}

func TestRepliesGoWhereTheyWereAskedFor(t *testing.T) {
	peer := codextest.NewPeer(codextest.On("thread/goal/set").Answer(map[string]any{"goal": goal("x")}), codextest.On("thread/goal/get").Answer(map[string]any{}))
	c := start(t, peer, codex.Options{})
	all := c.Subscribe(codex.SubscribeOptions{Replies: true})
	alsoAll := c.Subscribe(codex.SubscribeOptions{Replies: true, Thread: "another"})
	none := c.Subscribe(codex.SubscribeOptions{})
	mine := c.Subscribe(codex.SubscribeOptions{})
	public := setGoal(c, "public")
	private := setGoal(c, "private", codex.ReplyTo(mine))
	if _, err := codex.Call(t.Context(), c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: "T"}); err != nil {
		t.Fatal(err)
	}
	if e := next(t, mine); e.Reply.Call != private {
		t.Errorf("the private reply is to call %d", e.Reply.Call)
	}
	for _, s := range []*codex.Subscription{all, alsoAll} {
		e := next(t, s)
		if e.Reply.Call != public || e.Reply.Result.(*protocol.ThreadGoalSetResponse).Goal.Objective != "x" {
			t.Errorf("the public reply is %+v", e.Reply)
		}
	}
	_ = c.Close()
	for name, s := range map[string]*codex.Subscription{"all": all, "none": none, "mine": mine} {
		if more, _ := rest(t, s); len(more) > 0 {
			t.Errorf("%s: one more event %+v", name, more[0])
		}
	}
}

func TestParamsMayBeChangedAfterDispatch(t *testing.T) {
	peer := codextest.NewPeer(codextest.On("thread/goal/get").Hold("wait").Answer(map[string]any{}), codextest.On("thread/inject_items").Answer(map[string]any{}))
	c := start(t, peer, codex.Options{MaxInFlight: 1})
	go func() {
		_, _ = codex.Call(context.Background(), c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: "T"})
	}()
	<-peer.Reached("wait")
	params := protocol.ThreadInjectItemsParams{ThreadID: "T"}
	params.Items = append(params.Items, []byte(`"before"`))
	codex.Dispatch(c, protocol.ThreadInjectItemsMethod, params)
	params.Items[0] = []byte(`"after"`)
	peer.Release("wait")
	got, err := peer.Wait(t.Context(), func(m []codextest.PeerMessage) bool { return m[len(m)-1].Method == "thread/inject_items" })
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"items":["before"],"threadId":"T"}`; string(got[len(got)-1].Params) != want {
		t.Errorf("the peer got %s", got[len(got)-1].Params)
	}
}

// counted is a result that counts how often it is decoded.
type counted struct{ times *int }

var decodings int

func (c *counted) UnmarshalJSON(raw []byte) error {
	decodings++
	c.times = &decodings
	return nil
}

func TestResultIsDecodedOnceAndOnlyForWhomItIsFor(t *testing.T) {
	method := protocol.ClientMethod[protocol.ThreadReadParams, counted]{Method: protocol.ThreadReadMethod.Method}
	for name, row := range map[string]struct {
		subscriptions, want int
		call                bool
	}{"one call": {1, 1, true}, "two subscribers": {2, 1, false}, "nobody": {0, 0, false}} {
		t.Run(name, func(t *testing.T) {
			decodings = 0
			peer := codextest.NewPeer(codextest.On("thread/read").Answer(map[string]any{"thread": map[string]any{}}))
			c := start(t, peer, codex.Options{})
			var subs []*codex.Subscription
			for range row.subscriptions {
				subs = append(subs, c.Subscribe(codex.SubscribeOptions{Replies: true}))
			}
			if row.call {
				if _, err := codex.Call(t.Context(), c, method, protocol.ThreadReadParams{ThreadID: "T"}); err != nil {
					t.Fatal(err)
				}
			} else {
				codex.Dispatch(c, method, protocol.ThreadReadParams{ThreadID: "T"})
				until(t, "the reply is in", func() bool { s := c.Stats(); return s.Received == 2 && s.InFlight == 0 })
			}
			_ = c.Close()
			for _, s := range subs {
				rest(t, s)
			}
			if decodings != row.want {
				t.Errorf("decoded %d times, want %d", decodings, row.want)
			}
		})
	}
}
