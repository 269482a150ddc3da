package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/go-json-experiment/json/jsontext"
)

// silent answers nothing that these tests send, so that every slot stays taken until the request's time is over.
func silent() *codextest.Peer {
	return codextest.NewPeer(codextest.On("thread/goal/get").Silence(), codextest.On("thread/goal/set").Silence(),
		codextest.On("thread/read").Silence(), codextest.On("turn/start").Silence(), codextest.On("turn/interrupt").Silence())
}

func read(c *codex.Client, thread string, opts ...codex.CallOption) codex.CallID {
	return codex.Dispatch(c, protocol.ThreadReadMethod, protocol.ThreadReadParams{ThreadID: thread}, opts...)
}

func startTurn(c *codex.Client, thread string) codex.CallID {
	return codex.Dispatch(c, protocol.TurnStartMethod, protocol.TurnStartParams{ThreadID: thread, Input: []protocol.UserInput{}})
}

func interrupt(c *codex.Client, thread string) codex.CallID {
	return codex.Dispatch(c, protocol.TurnInterruptMethod, protocol.TurnInterruptParams{ThreadID: thread, TurnID: "U"})
}

// written returns what the peer has got, as method:thread.
func written(peer *codextest.Peer) string {
	synctest.Wait()
	var all []string
	for _, m := range peer.Messages()[2:] { // behind initialize and initialized
		_, thread, _ := strings.Cut(string(m.Params), `"threadId":"`)
		thread, _, _ = strings.Cut(thread, `"`)
		all = append(all, m.Method[strings.LastIndexByte(m.Method, '/')+1:]+":"+thread)
	}
	return strings.Join(all, " ")
}

func TestSlotsAreKeptForControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := silent()
		c := start(t, peer, codex.Options{MaxInFlight: 4})
		defer c.Close()
		for range 10 {
			read(c, "A")
		}
		if got := written(peer); got != "read:A read:A" {
			t.Fatalf("with reads alone: %s", got)
		}
		if s := c.Stats(); s.InFlight != 2 || s.Waiting != 8 {
			t.Errorf("in flight %d, waiting %d", s.InFlight, s.Waiting)
		}
		interrupt(c, "A") // passes the reads of its thread
		setGoal(c, "x")   // thread T
		setGoal(c, "y")
		if got := written(peer); got != "read:A read:A interrupt:A set:T" {
			t.Fatalf("with control: %s", got)
		}
	})
}

func TestControlDoesNotPassAMutationOfItsThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := silent()
		c := start(t, peer, codex.Options{MaxInFlight: 4})
		defer c.Close()
		read(c, "A")
		read(c, "A")
		read(c, "A")
		startTurn(c, "A")
		interrupt(c, "A")
		// The mutation that the interrupt is behind gets the slot that was kept, the read in front of it does not.
		if got := written(peer); got != "read:A read:A start:A interrupt:A" {
			t.Fatalf("%s", got)
		}
	})
}

func TestMutationWithoutControlBehindItWaitsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := silent()
		c := start(t, peer, codex.Options{MaxInFlight: 3})
		defer c.Close()
		startTurn(c, "A")
		startTurn(c, "A")
		startTurn(c, "B")
		if got := written(peer); got != "start:A" {
			t.Fatalf("%s", got)
		}
	})
}

func TestThreadsTakeTurnsForSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer(codextest.On("thread/read").Nth(1).Hold("first").Refuse(-1, ""), codextest.On("thread/read").Refuse(-1, ""))
		c := start(t, peer, codex.Options{MaxInFlight: 1})
		defer c.Close()
		for range 4 {
			read(c, "A")
		}
		read(c, "B")
		read(c, "B")
		read(c, "C")
		peer.Release("first")
		if got := written(peer); got != "read:A read:A read:B read:C read:A read:B read:A" {
			t.Fatalf("%s", got)
		}
	})
}

func TestSlotOfAnUnansweredRequestIsFreeAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := silent()
		c := start(t, peer, codex.Options{MaxInFlight: 3})
		defer c.Close()
		s := c.Subscribe(codex.SubscribeOptions{Replies: true})
		read(c, "A", codex.WithTimeout(time.Second))
		read(c, "B", codex.WithTimeout(2*time.Second))
		read(c, "C", codex.WithTimeout(1500*time.Millisecond))
		var got []string
		for range 3 {
			r := next(t, s).Reply
			got = append(got, fmt.Sprint(r.Call-1, " ", r.Delivery))
		}
		if want := "1 unknown, 3 not sent, 2 unknown"; strings.Join(got, ", ") != want && strings.Join(got, ", ") != "1 unknown, 3 unknown, 2 unknown" {
			t.Errorf("%v", got)
		}
		if s := c.Stats(); s.InFlight != 0 || s.Waiting != 0 {
			t.Errorf("in flight %d, waiting %d", s.InFlight, s.Waiting)
		}
	})
}

func TestRequestThatWaitsCanBeWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := silent()
		c := start(t, peer, codex.Options{MaxInFlight: 1})
		defer c.Close()
		s := c.Subscribe(codex.SubscribeOptions{Replies: true})
		first, second := setGoal(c, "x"), setGoal(c, "y")
		if got := written(peer); got != "set:T" {
			t.Fatalf("%s", got)
		}
		if c.Withdraw(first) || c.Withdraw(second+1) || c.Withdraw(0) {
			t.Error("what was written, or never was, cannot be withdrawn")
		}
		if !c.Withdraw(second) || c.Withdraw(second) {
			t.Error("what waits can be withdrawn, once")
		}
		r := next(t, s).Reply
		if r.Call != second || r.Delivery != codex.NotSent || !errors.Is(r.Err, codex.ErrWithdrawn) {
			t.Errorf("%+v", r)
		}
		if got := written(peer); got != "set:T" {
			t.Errorf("%s", got)
		}
	})
}

func TestRequestRefusedByAnOverloadedServerIsTriedAgainInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer(codextest.On("thread/read").Refuse(codex.CodeOverloaded, "overloaded"))
		c := start(t, peer, codex.Options{})
		defer c.Close()
		s := c.Subscribe(codex.SubscribeOptions{Replies: true})
		began := time.Now()
		read(c, "A", codex.WithTimeout(200*time.Millisecond))
		r := next(t, s).Reply
		if r.Delivery != codex.Rejected || time.Since(began) > 200*time.Millisecond {
			t.Errorf("%v after %v", r.Delivery, time.Since(began))
		}
		if n := len(peer.Received("thread/read")); n < 2 || n > 4 || uint64(n-1) != c.Stats().Retries {
			t.Errorf("%d frames, %d retries", n, c.Stats().Retries)
		}
	})
}

func TestEndedWaitOfACallerDoesNotEndTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := codextest.NewPeer(codextest.On("thread/read").Hold("late").Answer(map[string]any{}))
		c := start(t, peer, codex.Options{MaxInFlight: 1})
		defer c.Close()
		for range 2 { // the first is on its way, the second waits for its slot
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := codex.Call(ctx, c, protocol.ThreadReadMethod, protocol.ThreadReadParams{ThreadID: "A"})
			cancel()
			if codex.DeliveryOf(err) != codex.Unknown || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
		}
		peer.Release("late")
		if got := written(peer); got != "read:A read:A" {
			t.Errorf("%s", got)
		}
		if s := c.Stats(); s.LateReplies != 0 || s.InFlight != 0 {
			t.Errorf("%+v", s)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := codex.Call(gone, c, protocol.ThreadReadMethod, protocol.ThreadReadParams{ThreadID: "A"}); codex.DeliveryOf(err) != codex.NotSent {
			t.Errorf("with an ended context: %v", err)
		}
		if got := written(peer); got != "read:A read:A" {
			t.Errorf("%s", got)
		}
	})
}

func TestTwentyThousandPipelinedCallsAllEnd(t *testing.T) {
	const callers, each = 20, 1000
	peer := codextest.NewPeer(codextest.On("thread/goal/get").Answer(map[string]any{}), codextest.On("thread/goal/set").Answer(map[string]any{"goal": goal("x")}))
	c := start(t, peer, codex.Options{})
	s := c.Subscribe(codex.SubscribeOptions{Replies: true, Queue: callers * each})
	var wg sync.WaitGroup
	for n := range callers {
		wg.Go(func() {
			for range each {
				if n%2 == 0 {
					setGoal(c, "x")
				} else {
					codex.Dispatch(c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: fmt.Sprint(n)})
				}
			}
		})
	}
	seen := make(map[codex.CallID]bool)
	for range callers * each {
		r := next(t, s).Reply
		if r.Err != nil || seen[r.Call] {
			t.Fatalf("call %d: %v, seen %v", r.Call, r.Err, seen[r.Call])
		}
		seen[r.Call] = true
	}
	wg.Wait()
	if s := c.Stats(); s.InFlight != 0 || s.Waiting != 0 || s.LateReplies+s.UnknownReplies != 0 {
		t.Errorf("%+v", s)
	}
}

func TestWhatTheServerCannotReadIsNotSent(t *testing.T) {
	peer := codextest.NewPeer()
	c := start(t, peer, codex.Options{})
	deep := strings.Repeat("[", 126) + strings.Repeat("]", 126)
	for name, item := range map[string]string{
		"lone high surrogate": `"\ud800"`, "lone low surrogate": `"x\udc00y"`, "reversed pair": `"\udc00\ud800"`, "surrogate in a name": `{"\ud800":1}`,
		"invalid UTF-8": "\"\xff\"", "control character": "\"\x01\"", "too deep": deep, "not JSON": `{`, "two values": `1 2`, "nothing": ``, "number": `01`,
	} {
		_, err := codex.Call(t.Context(), c, protocol.ThreadInjectItemsMethod, protocol.ThreadInjectItemsParams{ThreadID: "T", Items: []jsontext.Value{jsontext.Value(item)}})
		if codex.DeliveryOf(err) != codex.NotSent {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := codex.Call(t.Context(), c, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: "T\xff"}); codex.DeliveryOf(err) != codex.NotSent {
		t.Errorf("invalid UTF-8 in a string: %v", err)
	}
	if n := len(peer.Received("thread/inject_items")) + len(peer.Received("thread/goal/set")); n != 0 {
		t.Errorf("%d frames went out", n)
	}
	sent := 0
	for name, item := range map[string]string{"pair": `"\ud83d\ude00"`, "NUL": `"\u0000"`, "separators": "\"\u2028\u2029\"", "big number": `1e999`, "line break": "[1,\r\n2]"} {
		_, _ = codex.Call(t.Context(), c, protocol.ThreadInjectItemsMethod, protocol.ThreadInjectItemsParams{ThreadID: "T", Items: []jsontext.Value{jsontext.Value(item)}})
		m := peer.Received("thread/inject_items")
		if sent++; len(m) != sent || !json.Valid(m[len(m)-1].Params) {
			t.Errorf("%s: %d messages", name, len(m))
		}
	}
}
