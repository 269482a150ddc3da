package main

import (
	"context"
	"sync"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/protocol"
)

// desk is where Codex's requests for leave arrive. With a person at a terminal
// they are asked; otherwise everything is declined, and the reason shown.
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
		ApproveCommand: func(ctx context.Context, p *protocol.CommandExecutionRequestApprovalParams) (r protocol.CommandExecutionRequestApprovalResponse, err error) {
			r.Decision.Arm = protocol.CommandExecutionApprovalDecisionDecline
			accept, err := d.decide(ctx, p.TurnID, p.ItemID, control.AskedOf(p))
			if accept {
				r.Decision.Arm = protocol.CommandExecutionApprovalDecisionAccept
			}
			return r, err
		},
		ApproveFileChange: func(ctx context.Context, p *protocol.FileChangeRequestApprovalParams) (r protocol.FileChangeRequestApprovalResponse, err error) {
			r.Decision = protocol.FileChangeApprovalDecisionDecline
			accept, err := d.decide(ctx, p.TurnID, p.ItemID, control.AskedOf(p))
			if accept {
				r.Decision = protocol.FileChangeApprovalDecisionAccept
			}
			return r, err
		},
	}
}

// decide asks, or declines where there is nobody to ask, and tells how it went.
func (d *desk) decide(ctx context.Context, turn, item, asked string) (accept bool, err error) {
	answer := &control.ApprovalAnswered{Turn: turn, Item: item, Asked: asked, Decision: "decline", By: "owner", Reason: nobodyToAsk}
	if d.ask != nil {
		answer.By, answer.Reason = "user", ""
		if accept, err = d.ask(ctx, asked); err != nil {
			answer.Reason = err.Error()
		}
	}
	if accept && err == nil {
		answer.Decision = "accept"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tell != nil {
		d.tell(answer)
	}
	return accept && err == nil, err
}
