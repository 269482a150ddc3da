package control_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/worker"
)

// A program embeds the owner: its own parts drive the worker in process, and
// codexctl in a terminal finds it on the socket.
func Example() {
	ctx := context.Background()
	const state = "/home/user/.local/state/codexctl"
	key := worker.Key{Project: "/src/project", Session: "default", Dir: "/src/project"}
	id, err := worker.Identify(key, nil)
	if err != nil {
		log.Fatal(err)
	}
	socket := control.SocketPath(state, id.Hash())

	manager, err := worker.NewManager(worker.Options{StateDir: state, Socket: func(worker.Identity) string { return socket }})
	if err != nil {
		log.Fatal(err)
	}
	w, err := manager.Worker(ctx, key)
	if err != nil {
		log.Fatal(err)
	}
	c, err := control.New(w, control.Owner{PID: os.Getpid(), Socket: socket})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := control.Listen(socket)
	if err != nil {
		log.Fatal(err)
	}
	go c.Accept(ctx, listener)

	value, err := c.Do(ctx, control.Command{ID: "1", Name: control.GoalSet, Text: "Make the tests pass"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(value.Operation, value.Goal.State)

	// In this order streams get the last events before they are closed.
	listener.Close()
	manager.Close(ctx)
	c.Close()
}

// A caller in another process drives the owner and watches what happens.
func ExampleDial() {
	ctx := context.Background()
	conn, err := control.Dial(ctx, "/home/user/.local/state/codexctl/run/0123456789abcdef01234567.sock")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Do(ctx, control.Command{ID: "night-1", Name: control.GoalSet, Text: "Fix the oldest issue"}, nil); err != nil {
		log.Fatal(err)
	}
	for {
		e, err := conn.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		if ended, ok := e.Payload.(*control.OperationEnded); ok {
			fmt.Println(ended.End, ended.Answer)
			return
		}
	}
}
