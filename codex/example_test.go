package codex_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// A program starts a thread, gives it a goal and prints what Codex says until the goal is complete.
func ExampleStart() {
	ctx := context.Background()
	client, err := codex.Start(ctx, codex.Options{Client: codex.ClientInfo{Name: "painter", Version: "1.0.0"}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	started, err := codex.Call(ctx, client, protocol.ThreadStartMethod, protocol.ThreadStartParams{Cwd: protocol.Some("/srv/fence")})
	if err != nil {
		log.Fatal(err)
	}
	thread := started.Thread.ID
	events := client.Subscribe(codex.SubscribeOptions{Thread: thread})
	if _, err := codex.Call(ctx, client, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{
		ThreadID: thread, Objective: protocol.Some("Paint the fence."),
	}); err != nil {
		log.Fatal(err)
	}
	for {
		e, err := events.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		switch n := e.Notification.(type) {
		case *protocol.AgentMessageDeltaNotification:
			fmt.Print(n.Delta)
		case *protocol.ThreadGoalUpdatedNotification:
			if n.Goal.Status == protocol.ThreadGoalStatusComplete {
				return
			}
		}
	}
}

// The outcome of a Dispatch has its place among the notifications, so it is known which of them are older.
func ExampleDispatch() {
	goal := func(objective string) map[string]any {
		return map[string]any{"threadId": "T", "objective": objective, "status": "active"}
	}
	// Stands in for a Codex that brings its counters up to date before it replaces the objective.
	peer := codextest.NewPeer(codextest.On("thread/goal/set").
		Notify("thread/goal/updated", map[string]any{"threadId": "T", "goal": goal("paint the fence")}).
		Answer(map[string]any{"goal": goal("paint the gate")}).
		Notify("thread/goal/updated", map[string]any{"threadId": "T", "goal": goal("paint the gate")}))
	client, err := codex.Start(context.Background(), codex.Options{Dial: peer.Dial})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	events := client.Subscribe(codex.SubscribeOptions{Replies: true})
	codex.Dispatch(client, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: "T", Objective: protocol.Some("paint the gate")})
	for range 3 {
		e, err := events.Next(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		if e.Reply != nil {
			fmt.Println(e.Reply.Delivery, e.Reply.Result.(*protocol.ThreadGoalSetResponse).Goal.Objective)
			continue
		}
		fmt.Println("announced", e.Notification.(*protocol.ThreadGoalUpdatedNotification).Goal.Objective)
	}
	// Output:
	// announced paint the fence
	// acknowledged paint the gate
	// announced paint the gate
}

// What is known of a request that failed decides what may be done about it.
func ExampleDeliveryOf() {
	peer := codextest.NewPeer(codextest.On("thread/goal/clear").Refuse(-32600, "thread not found: T"))
	client, err := codex.Start(context.Background(), codex.Options{Dial: peer.Dial})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	_, err = codex.Call(context.Background(), client, protocol.ThreadGoalClearMethod, protocol.ThreadGoalClearParams{ThreadID: "T"})
	switch codex.DeliveryOf(err) {
	case codex.NotSent:
		fmt.Println("try again")
	case codex.Unknown:
		fmt.Println("read back")
	case codex.Rejected:
		var refused *codex.RPCError
		errors.As(err, &refused)
		fmt.Println(refused.Message)
	}
	// Output:
	// thread not found: T
}
