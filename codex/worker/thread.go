package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
)

// startThread starts a new native thread for the identity.
func startThread(ctx context.Context, c *codex.Client, o ThreadOptions, dir string) (string, error) {
	config, _ := o.config() // checked when the manager was made
	r, err := codex.Call(ctx, c, protocol.ThreadStartMethod, protocol.ThreadStartParams{
		Cwd:            protocol.Some(dir),
		Model:          o.model(),
		Sandbox:        protocol.Some(o.sandbox()),
		ApprovalPolicy: protocol.Some(o.approval()),
		Config:         config,
	})
	if err != nil {
		return "", fmt.Errorf("start a thread: %w", err)
	}
	return r.Thread.ID, nil
}

// resumeParams loads the stored thread with the settings it had. The options were
// checked when the manager was made.
func (w *Worker) resumeParams() protocol.ThreadResumeParams {
	config, _ := w.opts.Thread.config()
	withoutTurns := true // 0.160.1 warns of a resume that returns them
	return protocol.ThreadResumeParams{
		ThreadID: w.thread,
		Cwd:      protocol.Some(w.identity.Key.Dir),
		Model:    w.opts.Thread.model(),
		// 0.160.1 falls back to the configured sandbox unless it is given again.
		Sandbox:        protocol.Some(w.opts.Thread.sandbox()),
		ApprovalPolicy: protocol.Some(w.opts.Thread.approval()),
		Config:         config,
		ExcludeTurns:   &withoutTurns,
	}
}

// readGoal reads a thread's goal; nil is none.
func readGoal(ctx context.Context, c *codex.Client, thread string) (*protocol.ThreadGoal, error) {
	r, err := codex.Call(ctx, c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: thread})
	if err != nil {
		return nil, err
	}
	return r.Goal, nil
}

// isUnknownThread reports whether Codex refused because it has no such thread: it
// never had a goal or a turn, was archived, or was deleted. 0.160.1 uses one code
// for every refusal, so only the message tells.
func isUnknownThread(err error) bool {
	var refused *codex.RPCError
	return errors.As(err, &refused) && strings.HasPrefix(refused.Message, "thread not found")
}
