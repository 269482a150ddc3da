package main

import (
	"context"
	"sync"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/protocol"
)

// desk is where Codex's requests for leave arrive. With a person at a terminal
// they are asked; otherwise everything is declined, and the reason shown. What
// is granted is granted once, never for a session. Requests of other kinds have
// the client's safe refusal.
type desk struct {
	ask func(ctx context.Context, question string) (accept bool, err error) // nil: nobody to ask

	mu   sync.Mutex
	tell func(control.Payload)
}

const nobodyToAsk = "there is no terminal to ask at; run codexctl on one, or choose --approval-policy and --sandbox that need no leave"

func (d *desk) publish(tell func(control.Payload)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tell = tell
}

func (d *desk) handlers() codex.ServerHandlers {
	return codex.ServerHandlers{
		ApproveCommand:    d.approveCommand,
		ApproveFileChange: d.approveFileChange,
		GrantPermissions:  d.grantPermissions,
		Elicit:            d.elicit,
	}
}

func (d *desk) approveCommand(ctx context.Context, p *protocol.CommandExecutionRequestApprovalParams) (r protocol.CommandExecutionRequestApprovalResponse, err error) {
	r.Decision.Arm = protocol.CommandExecutionApprovalDecisionDecline
	if d.decide(ctx, p) {
		r.Decision.Arm = protocol.CommandExecutionApprovalDecisionAccept
	}
	return r, nil
}

func (d *desk) approveFileChange(ctx context.Context, p *protocol.FileChangeRequestApprovalParams) (r protocol.FileChangeRequestApprovalResponse, err error) {
	r.Decision = protocol.FileChangeApprovalDecisionDecline
	if d.decide(ctx, p) {
		r.Decision = protocol.FileChangeApprovalDecisionAccept
	}
	return r, nil
}

// grantPermissions grants all that is asked for, for this turn, or nothing.
func (d *desk) grantPermissions(ctx context.Context, p *protocol.PermissionsRequestApprovalParams) (r protocol.PermissionsRequestApprovalResponse, err error) {
	if !d.decide(ctx, p) {
		return r, nil
	}
	turn := protocol.PermissionGrantScopeTurn
	r.Scope = &turn
	if p.Permissions.FileSystem != nil {
		r.Permissions.FileSystem = protocol.Some(*p.Permissions.FileSystem)
	}
	if p.Permissions.Network != nil {
		r.Permissions.Network = protocol.Some(*p.Permissions.Network)
	}
	return r, nil
}

// elicit answers approvals of MCP tool calls; forms of an MCP server are declined.
func (d *desk) elicit(ctx context.Context, p *protocol.McpServerElicitationRequestParams) (r protocol.McpServerElicitationRequestResponse, err error) {
	r.Action = protocol.McpServerElicitationActionDecline
	if d.decide(ctx, p) {
		r.Action = protocol.McpServerElicitationActionAccept
	}
	return r, nil
}

// decide asks, or declines where there is nobody to ask, and tells how it went.
func (d *desk) decide(ctx context.Context, params any) (accept bool) {
	asked := control.AskedOf(params)
	if asked == nil {
		d.say(&control.Warning{Code: "DECLINED", Message: "an MCP server asked for input, which codexctl cannot give; it was declined"})
		return false
	}
	answer := &control.ApprovalAnswered{Turn: asked.Turn, Item: asked.Item, Asked: asked.Asked, Decision: "decline", By: "owner", Reason: nobodyToAsk}
	if d.ask != nil {
		answer.By, answer.Reason = "user", ""
		var err error
		if accept, err = d.ask(ctx, asked.Asked); err != nil {
			accept, answer.Reason = false, err.Error()
		}
	}
	if accept {
		answer.Decision = "accept"
	}
	d.say(answer)
	return accept
}

func (d *desk) say(p control.Payload) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tell != nil {
		d.tell(p)
	}
}
