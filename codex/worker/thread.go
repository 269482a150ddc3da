package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// startThread starts a new native thread for the identity.
func startThread(ctx context.Context, c *codex.Client, o ThreadOptions, dir string) (string, error) {
	config, err := o.config()
	if err != nil {
		return "", err
	}
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

// wantLoaded answers load once the thread is loaded.
func (l *loop) wantLoaded(load chan<- error) {
	if l.load == loaded {
		load <- nil
		return
	}
	l.loads = append(l.loads, load)
	l.startLoading()
}

// startLoading resumes the stored thread. If its goal is active, Codex starts a
// turn by itself, within some 50 ms on 0.160.1; it is adopted.
func (l *loop) startLoading() {
	if l.load != unloaded {
		return
	}
	config, err := l.opts.Thread.config()
	if err != nil {
		l.loadReplied(err)
		return
	}
	without := true
	l.load = loading
	l.loading = codex.Dispatch(l.client, protocol.ThreadResumeMethod, protocol.ThreadResumeParams{
		ThreadID: l.thread,
		Cwd:      protocol.Some(l.identity.Key.Dir),
		Model:    l.opts.Thread.model(),
		// 0.160.1 falls back to the configured sandbox unless it is given again.
		Sandbox:        protocol.Some(l.opts.Thread.sandbox()),
		ApprovalPolicy: protocol.Some(l.opts.Thread.approval()),
		Config:         config,
		ExcludeTurns:   &without,
	}, codex.ReplyTo(l.wire))
}

func (l *loop) loadReplied(err error) {
	l.load, l.loading = loaded, 0
	if err != nil {
		l.load = unloaded
		err = fmt.Errorf("resume thread %s: %w", l.thread, err)
	}
	for _, load := range l.loads {
		load <- err
	}
	l.loads = nil
	if err != nil && l.state.Op != nil {
		l.step(lifecycle.Disconnected{Err: err}) // its goal is set, and no turn can start
	}
	l.publishStatus()
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

func checkText(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("the text is blank; say what is to be done")
	}
	return nil
}
