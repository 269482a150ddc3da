package control

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/codex/protocol"
)

// AskedOf reads a request of Codex's for leave to go beyond what it may: the
// params of one of the requestApproval methods, or of the elicitation by which
// 0.160.1 asks before it calls an MCP tool. Nil is a request of another kind.
func AskedOf(params any) *ApprovalAsked {
	switch p := params.(type) {
	case *protocol.CommandExecutionRequestApprovalParams:
		return asked(p.TurnID, p.ItemID, "run outside the sandbox: "+deref(p.Command), p.Reason)
	case *protocol.FileChangeRequestApprovalParams:
		// The paths are in the item that was started before.
		return asked(p.TurnID, p.ItemID, "change files outside the workspace", p.Reason)
	case *protocol.PermissionsRequestApprovalParams:
		return asked(p.TurnID, p.ItemID, "widen its permissions for this turn: "+permissions(p.Permissions), p.Reason)
	case *protocol.McpServerElicitationRequestParams:
		form, ok := p.Arm.(*protocol.McpServerElicitationRequestParamsForm)
		if ok && isToolApproval(form.Meta) {
			return asked(deref(p.TurnID), "", "call a tool of the MCP server "+p.ServerName+": "+form.Message, nil)
		}
	}
	return nil
}

func asked(turn, item, what string, reason *string) *ApprovalAsked {
	if r := strings.TrimSpace(deref(reason)); r != "" {
		what += " (" + r + ")"
	}
	return &ApprovalAsked{Turn: turn, Item: item, Asked: strings.Join(strings.Fields(what), " ")}
}

func permissions(p protocol.RequestPermissionProfile) string {
	var wanted []string
	if p.Network != nil {
		wanted = append(wanted, "the network")
	}
	if p.FileSystem != nil {
		if raw, err := json.Marshal(p.FileSystem); err == nil {
			wanted = append(wanted, "files "+string(raw))
		}
	}
	return strings.Join(wanted, " and ")
}

func isToolApproval(meta jsontext.Value) bool {
	var m struct {
		Kind string `json:"codex_approval_kind"`
	}
	return len(meta) > 0 && json.Unmarshal(meta, &m) == nil && m.Kind == "mcp_tool_call"
}
