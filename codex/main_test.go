package codex_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	frozenMain()
	codextest.PeerMain()
	goleak.VerifyTestMain(m)
}

// start connects a client to a peer and closes it with the test.
func start(t *testing.T, peer *codextest.Peer, o codex.Options) *codex.Client {
	t.Helper()
	o.Dial = peer.Dial
	c, err := codex.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// next returns the next event and fails the test when there is none in time.
func next(t *testing.T, s *codex.Subscription) codex.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := s.Next(ctx)
	if err != nil {
		t.Fatalf("no event: %v", err)
	}
	return e
}

// rest returns all events up to the end of the subscription, and its error.
func rest(t *testing.T, s *codex.Subscription) (events []codex.Event, end error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		e, err := s.Next(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Fatal("the subscription does not end")
		}
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

func goal(objective string) protocol.ThreadGoal {
	return protocol.ThreadGoal{ThreadID: "T", Objective: objective, Status: protocol.ThreadGoalStatusActive}
}

// until waits for a condition that no event announces.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
