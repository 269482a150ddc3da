package control

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/codex"
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

// Who decides about a request for leave, as a handler notes it with codex.NoteAnswer.
const (
	ByUser    = "user"    // a person
	ByNobody  = "nobody"  // there was no person to ask
	ByTimeout = "timeout" // the person did not answer in time
)

const (
	byCodex  = "codex"
	byClient = "client"
)

// askedIn is a request for leave with the ids that belong to it. The worker's own thread is not named.
func askedIn(r *codex.ServerRequest, own string) *ApprovalAsked {
	a := AskedOf(r.Params)
	if a == nil {
		return nil
	}
	a.Request = r.ID
	if r.Thread != own {
		a.Thread = r.Thread
	}
	return a
}

// settled describes how a request of Codex's was settled; nil is nothing to tell.
func settled(answer *codex.ServerAnswer, own string) Payload {
	asked := askedIn(answer.Request, own)
	if asked == nil {
		if r, ok := answer.Response.(*protocol.McpServerElicitationRequestResponse); ok && r.Action != protocol.McpServerElicitationActionAccept {
			return &Warning{Code: "DECLINED", Message: "an MCP server asked for input, which codexctl cannot give; it was declined"}
		}
		return nil
	}
	out := &ApprovalAnswered{ApprovalAsked: *asked, Decision: "decline", By: answer.Who, Reason: answer.Reason}
	switch answer.By {
	case codex.AnsweredByHandler:
		if accepted(answer.Response) {
			out.Decision = "accept"
		}
		if out.By == "" {
			out.By = byClient
		}
	case codex.AnsweredByTimeout:
		out.By = ByTimeout
	case codex.AnsweredByResolved:
		out.Decision, out.By, out.Reason = "withdrawn", byCodex, "Codex does not wait for an answer any more"
	case codex.AnsweredByClosed:
		out.Decision, out.By, out.Reason = "withdrawn", byCodex, "the connection to Codex has ended"
	default:
		out.By = byClient
		if out.Reason == "" {
			out.Reason = "nothing here could decide it"
		}
	}
	return out
}

// accepted reports whether a response gives what was asked for, or some of it.
func accepted(response any) bool {
	switch r := response.(type) {
	case *protocol.CommandExecutionRequestApprovalResponse:
		return r.Decision.Arm != protocol.CommandExecutionApprovalDecisionDecline && r.Decision.Arm != protocol.CommandExecutionApprovalDecisionCancel
	case *protocol.FileChangeRequestApprovalResponse:
		return r.Decision != protocol.FileChangeApprovalDecisionDecline && r.Decision != protocol.FileChangeApprovalDecisionCancel
	case *protocol.PermissionsRequestApprovalResponse:
		return !r.Permissions.FileSystem.IsAbsent() || !r.Permissions.Network.IsAbsent()
	case *protocol.McpServerElicitationRequestResponse:
		return r.Action == protocol.McpServerElicitationActionAccept
	}
	return false
}

func isToolApproval(meta jsontext.Value) bool {
	var m struct {
		Kind string `json:"codex_approval_kind"`
	}
	return len(meta) > 0 && json.Unmarshal(meta, &m) == nil && m.Kind == "mcp_tool_call"
}
