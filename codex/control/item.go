package control

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/codexctl/codexctl/codex/protocol"
)

// itemOf describes a native item for the wire.
func itemOf(turn string, item protocol.ThreadItem) ItemEvent {
	e := ItemEvent{Turn: turn}
	if raw, err := json.Marshal(item); err == nil {
		e.Native = raw
		var tag struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		}
		if json.Unmarshal(raw, &tag) == nil {
			e.Item, e.Type = tag.ID, tag.Type
		}
	}
	e.Summary = strings.Join(strings.Fields(summaryOf(item.Arm)), " ")
	if e.Summary == "" {
		e.Summary = e.Type
	}
	return e
}

// summaryOf is the item for people, in a few words.
func summaryOf(arm protocol.ThreadItemArm) string {
	switch i := arm.(type) {
	case *protocol.ThreadItemUserMessage:
		for _, input := range i.Content {
			if text, ok := input.Arm.(*protocol.UserInputText); ok {
				return text.Text
			}
		}
	case *protocol.ThreadItemAgentMessage:
		return i.Text
	case *protocol.ThreadItemReasoning:
		return "thinking"
	case *protocol.ThreadItemCommandExecution:
		if i.ExitCode != nil && *i.ExitCode != 0 {
			return fmt.Sprintf("%s (exit %d)", i.Command, *i.ExitCode)
		}
		if i.Status == protocol.CommandExecutionStatusDeclined {
			return i.Command + " (declined)"
		}
		return i.Command
	case *protocol.ThreadItemFileChange:
		var paths []string
		for _, c := range i.Changes {
			paths = append(paths, c.Path)
		}
		return "edit " + strings.Join(paths, ", ")
	case *protocol.ThreadItemMcpToolCall:
		return i.Server + "." + i.Tool
	case *protocol.ThreadItemDynamicToolCall:
		return i.Tool
	case *protocol.ThreadItemFunctionCallOutput:
		return i.Name
	case *protocol.ThreadItemWebSearch:
		return "search the web: " + i.Query
	case *protocol.ThreadItemImageView:
		return "look at " + string(i.Path)
	case *protocol.ThreadItemPlan:
		return "plan"
	case *protocol.ThreadItemContextCompaction:
		return "compacting the context"
	}
	return ""
}
