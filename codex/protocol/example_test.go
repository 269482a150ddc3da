package protocol_test

import (
	"encoding/json"
	"fmt"

	"github.com/codexctl/codexctl/codex/protocol"
)

func Example() {
	m, _ := protocol.LookupMethod(protocol.DirClientRequest, "thread/goal/set")
	fmt.Println(m.Params, "→", m.Result, m.Effect)

	// A new objective, and no budget any more; the status stays what it is.
	params, _ := json.Marshal(protocol.ThreadGoalSetParams{
		ThreadID:    "0199",
		Objective:   protocol.Some("tidy up"),
		TokenBudget: protocol.Null[int64](),
	})
	fmt.Println(string(params))
	// Output:
	// ThreadGoalSetParams → ThreadGoalSetResponse mutates
	// {"objective":"tidy up","threadId":"0199","tokenBudget":null}
}

func ExampleDecodeNotification() {
	n, err := protocol.DecodeNotification("item/completed", []byte(`{"threadId":"t","turnId":"u","completedAtMs":1,"item":{"type":"plan","id":"u-plan","text":"# Plan"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	switch n := n.(type) {
	case *protocol.ItemCompletedNotification:
		switch item := n.Item.Arm.(type) {
		case *protocol.ThreadItemPlan:
			fmt.Println(item.ID, item.Text)
		case *protocol.Unknown:
			fmt.Println("something new:", string(item.Raw))
		}
	case *protocol.UnknownNotification:
		fmt.Println("something new:", n.Method)
	}
	// Output: u-plan # Plan
}
