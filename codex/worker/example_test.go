package worker_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// Run a goal on the user's own Codex, replace its objective while Codex works, and
// wait for the end of it all.
func Example() {
	ctx := context.Background()
	manager, err := worker.NewManager(worker.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer manager.Close(ctx)

	w, err := manager.Worker(ctx, worker.Key{Project: "shop", Session: "nightly", Dir: "."})
	if err != nil {
		log.Fatal(err)
	}
	started, err := w.SetGoal(ctx, worker.GoalSpec{
		Objective: "Make the flaky checkout test reliable",
		Budget:    protocol.Some(int64(200_000)), // tokens
	})
	if err != nil {
		log.Fatal(err)
	}
	time.AfterFunc(time.Minute, func() {
		// Acknowledged by Codex, rejected, or of unknown delivery: never sent twice.
		if _, err := w.SetGoal(ctx, worker.GoalSpec{Objective: "Find out why the checkout test is flaky, and stop there"}); err != nil {
			log.Print(err)
		}
	})
	outcome, err := started.Operation.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.End, outcome.Goal.TokensUsed)
}

// Follow what a worker does, as a frontend would.
func ExampleWorker_Subscribe() {
	ctx := context.Background()
	manager, err := worker.NewManager(worker.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer manager.Close(ctx)
	w, err := manager.Worker(ctx, worker.Key{Dir: "."})
	if err != nil {
		log.Fatal(err)
	}
	events := w.Subscribe()
	defer events.Close()
	if _, err := w.Prompt(ctx, "What does this repository do?"); err != nil {
		log.Fatal(err)
	}
	for {
		e, err := events.Next(ctx)
		if err != nil {
			return
		}
		switch n := e.Notification.(type) {
		case *protocol.AgentMessageDeltaNotification:
			fmt.Print(n.Delta)
		case *protocol.TurnCompletedNotification:
			return
		}
	}
}
