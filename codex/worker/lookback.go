package worker

import (
	"context"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// lookBackTime bounds the reading back after a stop that was not answered: the start
// of an app-server, and two calls that may each wait for Codex's state database.
const lookBackTime = 30 * time.Second

// lookBack does what the core asks for once the app-server is gone, on a fresh one.
// It reads and changes the goal of a thread that is stored only, which starts nothing.
func (l *loop) lookBack() {
	if len(l.backs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookBackTime)
	defer cancel()
	go func() {
		select {
		case <-l.closing: // nobody waits for it any more
			cancel()
		case <-ctx.Done():
		}
	}()
	client, err := l.startBeside(ctx)
	if err == nil {
		defer client.Close()
	}
	for len(l.backs) > 0 {
		effect := l.backs[0]
		l.backs = l.backs[1:]
		if err != nil {
			l.step(lifecycle.LookedBack{Err: err})
			continue
		}
		l.step(l.carryOutBack(ctx, client, effect))
	}
}

// startBeside starts an app-server that is only to read and to set a stored goal.
func (l *loop) startBeside(ctx context.Context) (*codex.Client, error) {
	o := l.opts.Codex
	if o.Dir = l.identity.Key.Dir; !isDir(o.Dir) { // nothing is to run in it
		o.Dir = l.owned.dir
	}
	client, err := codex.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := appendRecord(l.log, recordServer, serverRecord{Process: client.Server().Process}); err != nil {
		// A full disk must not keep a goal from being paused.
		l.opts.Logger.Error("app-server not journalled", "error", err)
	}
	return client, nil
}

func (l *loop) carryOutBack(ctx context.Context, c *codex.Client, effect lifecycle.Effect) lifecycle.LookedBack {
	set, ok := effect.(lifecycle.SetBack)
	if !ok {
		goal, err := readGoal(ctx, c, l.thread)
		return lifecycle.LookedBack{Goal: goal, Err: err}
	}
	f := lifecycle.Frame{Role: lifecycle.RoleStopPause}
	if set.Status == protocol.ThreadGoalStatusComplete {
		f.Role = lifecycle.RoleRestore
	}
	intent, err := l.journalIntent(f)
	if err != nil {
		l.opts.Logger.Error("writing without a journalled intent", "method", methods[f.Role], "error", err)
	}
	r, err := codex.Call(ctx, c, protocol.ThreadGoalSetMethod, l.setParams(f))
	if intent != 0 {
		l.journalOutcome(intent, &codex.Reply{Method: protocol.ThreadGoalSetMethod.Name, Delivery: codex.DeliveryOf(err), Err: err, Result: &r})
	}
	return lifecycle.LookedBack{Goal: &r.Goal, Err: err}
}
