package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// desk is where Codex's requests for leave arrive. With a person at a terminal
// they are asked; otherwise everything is declined, and the reason shown. What
// is granted is granted once, never for a session. Requests of other kinds have
// the client's safe refusal.
type desk struct {
	ask      func(ctx context.Context, question string) (accept bool, err error) // nil: nobody to ask
	patience time.Duration                                                       // with that person; 0: the client's own

	mu     sync.Mutex
	worker *worker.Worker // nil: not there yet
}

const nobodyToAsk = "there is no terminal to ask at; run codexctl on one, or choose --approval-policy and --sandbox that need no leave"

// tellPatience bounds how long telling the model why takes. It is less than what
// a handler has left when its time is over.
const tellPatience = 4 * time.Second

// serve has the desk tell the worker's model why it declines.
func (d *desk) serve(w *worker.Worker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.worker = w
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
	if d.decide(ctx, p.ThreadID, p.TurnID, p) {
		r.Decision.Arm = protocol.CommandExecutionApprovalDecisionAccept
	}
	return r, nil
}

func (d *desk) approveFileChange(ctx context.Context, p *protocol.FileChangeRequestApprovalParams) (r protocol.FileChangeRequestApprovalResponse, err error) {
	r.Decision = protocol.FileChangeApprovalDecisionDecline
	if d.decide(ctx, p.ThreadID, p.TurnID, p) {
		r.Decision = protocol.FileChangeApprovalDecisionAccept
	}
	return r, nil
}

// grantPermissions grants all that is asked for, for this turn, or nothing.
func (d *desk) grantPermissions(ctx context.Context, p *protocol.PermissionsRequestApprovalParams) (r protocol.PermissionsRequestApprovalResponse, err error) {
	if !d.decide(ctx, p.ThreadID, p.TurnID, p) {
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
	turn := ""
	if p.TurnID != nil {
		turn = *p.TurnID
	}
	if d.decide(ctx, p.ThreadID, turn, p) {
		r.Action = protocol.McpServerElicitationActionAccept
	}
	return r, nil
}

// decide asks, or declines where there is nobody to ask, and notes who decided and why. A model that is declined hears
// from Codex that the user rejected it. Where no user did, it is told so first: 0.160.1 shows it the two together.
func (d *desk) decide(ctx context.Context, thread, turn string, params any) (accept bool) {
	asked := control.AskedOf(params)
	if asked == nil {
		return false
	}
	if d.ask == nil {
		codex.NoteAnswer(ctx, control.ByNobody, nobodyToAsk)
		d.tell(ctx, thread, turn, "Nobody was there to answer the request to "+asked.Asked)
		return false
	}
	accept, err := d.ask(ctx, asked.Asked)
	switch {
	case err == nil:
		codex.NoteAnswer(ctx, control.ByUser, "")
	case errors.Is(err, codex.ErrHandlerTimeout):
		codex.NoteAnswer(ctx, control.ByTimeout, fmt.Sprintf("nobody answered within %s; --approval-timeout waits longer", d.patience))
		d.tell(context.WithoutCancel(ctx), thread, turn, "Nobody answered in time the request to "+asked.Asked)
	default:
		codex.NoteAnswer(ctx, control.ByNobody, err.Error())
	}
	return accept
}

// tell steers the reason into the turn that asks. One that cannot be told any more is over.
func (d *desk) tell(ctx context.Context, thread, turn, what string) {
	d.mu.Lock()
	w := d.worker
	d.mu.Unlock()
	if w == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellPatience)
	defer cancel()
	text := what + ". It is declined for that reason alone: no person has refused it. Go on without it, or say what you would need."
	if thread == w.Thread() {
		_ = w.Steer(ctx, text)
		return
	}
	// A sub-agent's turn is not the worker's to steer.
	_, _ = codex.Call(ctx, w.Client(), protocol.TurnSteerMethod, protocol.TurnSteerParams{
		ThreadID: thread, ExpectedTurnID: turn, Input: []protocol.UserInput{{Arm: &protocol.UserInputText{Text: text}}},
	})
}
