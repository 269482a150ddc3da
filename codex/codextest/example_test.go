package codextest_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// Run the real Codex on a scripted model, and see what the model was told. In a test, StartModel and TempHome are
// shorter.
func ExampleModel() {
	model, err := codextest.NewModel(codextest.InOrder(
		codextest.Reply{codextest.Text("Looking at the parser.")},
		codextest.Reply{codextest.UpdateGoal("complete")},
		codextest.Reply{codextest.Text("The parser is fixed.")},
	))
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	home, err := codextest.NewHome(dir, model.URL(), codextest.HomeOptions{})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	client, err := codex.Start(ctx, codex.Options{Dir: home.Work, Env: home.Env()})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	started, err := codex.Call(ctx, client, protocol.ThreadStartMethod, protocol.ThreadStartParams{Cwd: protocol.Some(home.Work)})
	if err != nil {
		log.Fatal(err)
	}
	goal := protocol.ThreadGoalSetParams{ThreadID: started.Thread.ID, Objective: protocol.Some("Fix the parser")}
	if _, err := codex.Call(ctx, client, protocol.ThreadGoalSetMethod, goal); err != nil {
		log.Fatal(err)
	}

	requests, err := model.WaitRequests(ctx, 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range requests {
		fmt.Println(r.Trigger, r.Objective())
	}
	// Output:
	// goal Fix the parser
	// goal Fix the parser
	// goal Fix the parser
}
