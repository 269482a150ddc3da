package codex_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

const trigger = "thread/loaded/list"

func numbered(text string) map[string]any {
	return map[string]any{"threadId": "T", "turnId": "U", "itemId": "I", "delta": text}
}

// floods makes a peer that, when triggered, sends deltas and control events by turns.
func floods(rounds, deltas int) *codextest.Peer {
	r := codextest.On(trigger)
	for range rounds {
		r.Flood(deltas, protocol.NotifyItemAgentMessageDelta, numbered("{{n}}"))
		r.Notify(protocol.NotifyThreadGoalCleared, map[string]any{"threadId": "T"})
	}
	return codextest.NewPeer(r.Answer(map[string]any{"data": []string{}}))
}

func pull(t *testing.T, c *codex.Client) {
	t.Helper()
	if _, err := codex.Call(t.Context(), c, protocol.ThreadLoadedListMethod, protocol.ThreadLoadedListParams{}); err != nil {
		t.Fatal(err)
	}
}

func TestSlowSubscriberIsToldWhatItLostAndHoldsUpNobody(t *testing.T) {
	const rounds, deltas, queue = 50, 400, 64
	c := start(t, floods(rounds, deltas), codex.Options{})
	slow := c.Subscribe(codex.SubscribeOptions{Queue: queue})
	quick := c.Subscribe(codex.SubscribeOptions{Queue: 2 * rounds * deltas})
	pull(t, c) // returns although nobody reads
	_ = c.Close()
	var lagged uint64
	var got, control int
	var seq uint64
	events, end := rest(t, slow)
	for _, e := range events {
		if e.Seq < seq || e.Seq == seq && e.Lagged == 0 {
			t.Fatalf("number %d after %d", e.Seq, seq)
		}
		seq = e.Seq
		switch {
		case e.Lagged > 0:
			if e.Notification != nil || e.Method != "" {
				t.Fatalf("a gap with content: %+v", e)
			}
			lagged += e.Lagged
		case e.Method == protocol.NotifyThreadGoalCleared:
			control++
		default:
			got++
		}
	}
	if control != rounds || got+int(lagged) != rounds*deltas || lagged == 0 || got > queue {
		t.Errorf("slow: %d control events, %d deltas, %d lost", control, got, lagged)
	}
	if !errors.Is(end, codex.ErrClosed) {
		t.Errorf("slow ended with %v", end)
	}
	if dropped := c.Stats().Dropped; dropped != lagged {
		t.Errorf("%d counted as dropped, %d told", dropped, lagged)
	}
	if events, _ := rest(t, quick); len(events) != rounds*(deltas+1) {
		t.Errorf("quick got %d events", len(events))
	}
}

func TestSubscriberThatCannotHoldControlEventsIsClosedAlone(t *testing.T) {
	c := start(t, floods(100, 1), codex.Options{})
	slow := c.Subscribe(codex.SubscribeOptions{Queue: 10})
	other := c.Subscribe(codex.SubscribeOptions{})
	pull(t, c)
	events, end := rest(t, slow)
	var lagged *codex.LaggedError
	if !errors.As(end, &lagged) || lagged.Events < 20 {
		t.Errorf("slow ended with %v", end)
	}
	control := 0
	for _, e := range events {
		if e.Method == protocol.NotifyThreadGoalCleared {
			control++
		}
	}
	if control < 10 || control > 20 {
		t.Errorf("slow held %d control events of which none may be missing between", control)
	}
	pull(t, c)
	_ = c.Close()
	if events, _ := rest(t, other); len(events) != 400 {
		t.Errorf("the other got %d events", len(events))
	}
}

func TestQueueIsBoundedInBytesToo(t *testing.T) {
	text := strings.Repeat("x", 10_000)
	peer := codextest.NewPeer(codextest.On(trigger).Flood(100, protocol.NotifyItemAgentMessageDelta, numbered(text)).Answer(map[string]any{"data": []string{}}))
	c := start(t, peer, codex.Options{})
	s := c.Subscribe(codex.SubscribeOptions{QueueBytes: 95_000})
	pull(t, c)
	for range 10 {
		if e := next(t, s); e.Notification == nil {
			t.Fatalf("%+v", e)
		}
	}
	if e := next(t, s); e.Lagged != 90 {
		t.Errorf("lost %d", e.Lagged)
	}
}

func TestSubscriptionTakesWhatItWants(t *testing.T) {
	peer := codextest.NewPeer(codextest.On(trigger).
		Notify("turn/started", map[string]any{"threadId": "T", "turn": map[string]any{"id": "U", "items": []any{}, "status": "inProgress"}}).
		Notify("thread/goal/cleared", map[string]any{"threadId": "other"}).
		Notify("configWarning", map[string]any{"summary": "no thread", "details": nil}).
		Notify("some/day", map[string]any{"threadId": "T", "x": 1}).
		Notify("thread/goal/cleared", map[string]any{"threadId": []int{7}}).
		Notify("thread/name/updated", 7).
		Answer(map[string]any{"data": []string{}}))
	c := start(t, peer, codex.Options{})
	asked := map[string]int{}
	subs := map[string]*codex.Subscription{
		"all":     c.Subscribe(codex.SubscribeOptions{}),
		"T":       c.Subscribe(codex.SubscribeOptions{Thread: "T"}),
		"other":   c.Subscribe(codex.SubscribeOptions{Thread: "other"}),
		"methods": c.Subscribe(codex.SubscribeOptions{Methods: func(m string) bool { asked[m]++; return strings.HasPrefix(m, "thread/") }}),
	}
	pull(t, c)
	pull(t, c)
	_ = c.Close()
	once := map[string]string{
		"all":     "turn/started thread/goal/cleared configWarning some/day? thread/goal/cleared? thread/name/updated?",
		"T":       "turn/started configWarning some/day? thread/goal/cleared? thread/name/updated?",
		"other":   "thread/goal/cleared configWarning thread/goal/cleared? thread/name/updated?",
		"methods": "thread/goal/cleared thread/goal/cleared? thread/name/updated?",
	}
	for name, s := range subs {
		var got []string
		events, _ := rest(t, s)
		for _, e := range events {
			method := e.Notification.NotificationMethod()
			if method != e.Method {
				t.Errorf("%s is called %s", method, e.Method)
			}
			if u, unknown := e.Notification.(*protocol.UnknownNotification); unknown {
				method += "?"
				if len(u.Params) == 0 {
					t.Errorf("%s lost its params", method)
				}
			}
			got = append(got, method)
		}
		if want := once[name] + " " + once[name]; strings.Join(got, " ") != want {
			t.Errorf("%s got\n%s\nwant\n%s", name, strings.Join(got, " "), want)
		}
	}
	for m, n := range asked {
		if n != 1 {
			t.Errorf("asked %d times about %s", n, m)
		}
	}
	if s := c.Stats(); s.UnknownMethods != 2 || s.Undecodable != 4 || s.Noise != 0 {
		t.Errorf("unknown %d, undecodable %d, noise %d", s.UnknownMethods, s.Undecodable, s.Noise)
	}
}

func TestEndedWaitLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := floods(1, 3)
		c := start(t, peer, codex.Options{})
		defer c.Close()
		s := c.Subscribe(codex.SubscribeOptions{})
		for range 3 {
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				synctest.Wait()
				cancel(errors.New("enough"))
			}()
			if _, err := s.Next(ctx); err == nil || err.Error() != "enough" {
				t.Fatalf("%v", err)
			}
		}
		pull(t, c)
		for n := range 3 {
			if d := next(t, s).Notification.(*protocol.AgentMessageDeltaNotification).Delta; d != strconv.Itoa(n) {
				t.Errorf("delta %s, want %d", d, n)
			}
		}
	})
}

func TestClosedSubscriptionEndsItsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, floods(1, 3), codex.Options{})
		defer c.Close()
		s := c.Subscribe(codex.SubscribeOptions{})
		go func() {
			synctest.Wait()
			s.Close()
		}()
		if _, err := s.Next(t.Context()); !errors.Is(err, codex.ErrSubscriptionClosed) {
			t.Errorf("%v", err)
		}
		pull(t, c)
		if _, err := s.Next(t.Context()); !errors.Is(err, codex.ErrSubscriptionClosed) {
			t.Errorf("%v", err)
		}
		s.Close()
		_ = c.Close()
		if _, err := c.Subscribe(codex.SubscribeOptions{}).Next(t.Context()); !errors.Is(err, codex.ErrClosed) {
			t.Errorf("subscribed too late: %v", err)
		}
	})
}

func TestLossComesBehindAllThatWasDelivered(t *testing.T) {
	peer := codextest.NewPeer(
		codextest.On("thread/goal/set").Notify("thread/goal/updated", updated("x")).Reach("set"),
		codextest.On("thread/goal/clear").Notify("thread/goal/cleared", map[string]any{"threadId": "T"}).Die())
	c := start(t, peer, codex.Options{MaxInFlight: 1})
	s := c.Subscribe(codex.SubscribeOptions{Replies: true})
	first := setGoal(c, "x")
	<-peer.Reached("set")
	waiting := codex.Dispatch(c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: "T"})
	peer.Notify("thread/goal/cleared", map[string]any{"threadId": "T"})
	peer.Die()
	var got []string
	events, end := rest(t, s)
	for _, e := range events {
		switch {
		case e.Reply == nil:
			got = append(got, e.Method)
		case e.Reply.Call == first || e.Reply.Call == waiting:
			got = append(got, e.Reply.Delivery.String())
		}
	}
	want := "thread/goal/updated, thread/goal/cleared, not sent, unknown"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q", got)
	}
	var lost *codex.LostError
	if !errors.As(end, &lost) || !errors.As(c.Err(), &lost) {
		t.Errorf("ended with %v, client with %v", end, c.Err())
	}
}

func TestRequestAfterTheEndHasItsReplyBeforeTheEndIsTold(t *testing.T) {
	peer := codextest.NewPeer()
	c := start(t, peer, codex.Options{})
	s := c.Subscribe(codex.SubscribeOptions{Replies: true})
	_ = c.Close()
	first, second := setGoal(c, "x"), setGoal(c, "y", codex.ReplyTo(s))
	for _, id := range []codex.CallID{first, second} {
		if r := next(t, s).Reply; r.Call != id || r.Delivery != codex.NotSent || !errors.Is(r.Err, codex.ErrClosed) {
			t.Errorf("%+v", r)
		}
	}
	if more, end := rest(t, s); len(more) != 0 || !errors.Is(end, codex.ErrClosed) {
		t.Errorf("%v, %v", more, end)
	}
	setGoal(c, "z")
	if more, _ := rest(t, s); len(more) != 0 {
		t.Errorf("a reply behind the end")
	}
}

func TestEndedContextIsNoticedAmongManyEvents(t *testing.T) {
	c := start(t, floods(10, 1000), codex.Options{})
	s := c.Subscribe(codex.SubscribeOptions{})
	pull(t, c)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if e := next(t, s); e.Notification == nil {
		t.Errorf("%+v", e)
	}
}

func TestClosedSubscriptionGivesNothingMoreOut(t *testing.T) {
	peer := codextest.NewPeer(codextest.On(trigger).Flood(10, "some/day", nil).Answer(map[string]any{"data": []string{}}))
	c := start(t, peer, codex.Options{})
	s := c.Subscribe(codex.SubscribeOptions{})
	if _, err := codex.Call(t.Context(), c, protocol.ThreadLoadedListMethod, protocol.ThreadLoadedListParams{}); err != nil {
		t.Fatal(err)
	}
	next(t, s) // and with it all ten were taken from the queue
	s.Close()
	if e, err := s.Next(t.Context()); !errors.Is(err, codex.ErrSubscriptionClosed) {
		t.Errorf("%+v, %v", e, err)
	}
}
