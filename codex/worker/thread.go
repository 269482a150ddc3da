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
func (l *loop) startThread(ctx context.Context) (string, error) {
	r, err := codex.Call(ctx, l.client, protocol.ThreadStartMethod, startParams(l.opts.Thread, l.configured, l.identity.Key.Dir))
	if err != nil {
		return "", fmt.Errorf("start a thread: %w", err)
	}
	l.own = startedSettings(r)
	l.inForce = l.own
	return r.Thread.ID, nil
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
