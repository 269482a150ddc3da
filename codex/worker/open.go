package worker

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// open makes a worker: see [Manager.Worker]. thread is one to adopt, "" none.
func open(ctx context.Context, o Options, id Identity, thread string, ended func()) (*Worker, error) {
	owned, h, err := own(ctx, o, id)
	if err != nil {
		return nil, err
	}
	w := &Worker{
		identity: id, opts: o, owned: owned, log: owned.log, history: h, ended: ended,
		requests: make(chan request), closing: make(chan struct{}), done: make(chan struct{}),
	}
	if thread == "" || thread == h.Settings.Thread {
		w.opts = h.Settings.Held.recovering(o)
	}
	if err := w.connect(ctx, h); err != nil {
		owned.release()
		return nil, err
	}
	l := &loop{
		Worker: w, intents: h.Intents,
		waiting: map[lifecycle.Ticket]chan<- answered{}, frames: map[codex.CallID]written{},
		timers: map[lifecycle.Timer]time.Time{}, ops: map[int]*Operation{}, children: newChildren(slices.Clone(h.Children)),
	}
	if err := l.prepare(ctx, h, thread, o.Thread); err != nil {
		_ = w.client.Close()
		l.journalEnd()
		owned.release()
		return nil, err
	}
	l.publishStatus()
	go l.run()
	return w, nil
}

// connect starts the app-server once the last owner's is gone.
func (w *Worker) connect(ctx context.Context, h *history) error {
	if err := waitGone(ctx, h.Server, w.opts.PredecessorTimeout); err != nil {
		return err
	}
	if h.Server != (codex.ProcessID{}) {
		// The last owner died, and what its turns had left running is nobody's.
		w.left = leftovers{others: append(slices.Clone(h.Children), h.Thread), state: w.opts.StateDir}.endProcesses(ctx)
		for _, o := range w.left {
			w.opts.Logger.Warn("ended what a dead owner had left behind", "thread", o.Thread, "what", o.String())
		}
	}
	w.owned.generation = h.Owners + 1
	if err := appendRecord(w.log, recordOwner, ownerRecord{Identity: w.identity, Process: w.owned.note.Process}); err != nil {
		return err
	}
	o := w.opts.Codex
	o.Dir = w.identity.Key.Dir
	if !isDir(o.Dir) && w.opts.WithoutDir {
		o.Dir = w.owned.dir
	}
	client, err := codex.Start(ctx, o)
	if err != nil {
		return err
	}
	w.client = client
	err = appendRecord(w.log, recordServer, serverRecord{Process: client.Server().Process})
	if err == nil {
		err = w.checkHome(client.Server().CodexHome)
	}
	if err == nil && !w.opts.AnyConfig {
		err = codex.CheckConfig(ctx, client)
	}
	if err != nil {
		_ = client.Close()
		return err
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkHome holds the home that the app-server says it uses against the one that
// the locks and the journal are for.
func (w *Worker) checkHome(home string) error {
	real, err := canonical(home)
	if err != nil {
		return err
	}
	if real != w.identity.CodexHome {
		return fmt.Errorf("codex uses %s as its CODEX_HOME, and this session is one of %s; give Codex the environment that the session was identified with", real, w.identity.CodexHome)
	}
	return nil
}

// prepare settles which thread the worker owns, decides open intents and reads
// the goal.
func (l *loop) prepare(ctx context.Context, h *history, adopt string, asked ThreadOptions) error {
	found, err := recoverIntents(ctx, l.client, h)
	if err != nil {
		return err
	}
	l.recovery = append(slices.Clone(h.Recovered), found...)
	stored := h.Thread
	if adopt != "" {
		stored = adopt
	}
	l.readConfigured(ctx)
	goal, err := l.settleThread(ctx, h, stored, adopt != "")
	if err != nil {
		return err
	}
	l.recoverHeld(goal, asked)
	l.wire = l.client.Subscribe(codex.SubscribeOptions{}) // with its sub-agents' threads
	l.state.Goal, l.state.GoalKnown = goal, true
	// What was found out is told again by each new worker until a caller's own
	// mutation closes the matter: a worker that could not be opened has told nobody.
	for _, r := range found {
		l.opts.Logger.Warn("a mutation of the last owner had no outcome", "method", r.Intent.Method, "verdict", string(r.Verdict))
		if err := appendRecord(l.log, recordRecovered, recoveredRecord{Intent: r.Intent.ID, Verdict: r.Verdict, Goal: r.Goal}); err != nil {
			return err
		}
	}
	if goal != nil && goal.Status == protocol.ThreadGoalStatusActive && l.opts.ResumePaused {
		return l.pauseStored(ctx)
	}
	return nil
}

// settleThread takes the stored thread if Codex still has it, and starts one
// otherwise.
func (l *loop) settleThread(ctx context.Context, h *history, stored string, adopt bool) (*protocol.ThreadGoal, error) {
	if stored != "" {
		if err := l.owned.lockThread(stored); err != nil {
			return nil, err
		}
		goal, err := readGoal(ctx, l.client, stored)
		if err == nil {
			l.thread = stored
			if err := l.findSettings(ctx, h, stored); err != nil {
				return nil, err
			}
			return goal, l.noteThread(adopt)
		}
		if !isUnknownThread(err) || adopt {
			return nil, fmt.Errorf("thread %s: %w", stored, err)
		}
		l.opts.Logger.Warn("Codex does not have the stored thread; starting a new one", "thread", stored)
	}
	thread, err := l.startThread(ctx)
	if err != nil {
		return nil, err
	}
	l.thread, l.state.Load = thread, lifecycle.Loaded
	if err := l.owned.lockThread(thread); err != nil {
		return nil, err
	}
	return nil, l.noteThread(true)
}

func (l *loop) noteThread(changed bool) error {
	if !changed {
		return nil
	}
	if err := appendRecord(l.log, recordThread, threadRecord{Thread: l.thread}); err != nil {
		return err
	}
	return l.keepSettings()
}

// pauseStored pauses the goal before its thread is loaded, which works on a thread
// that is stored only, and starts nothing.
func (l *loop) pauseStored(ctx context.Context) error {
	f := lifecycle.Frame{Role: lifecycle.RoleStopPause}
	intent, err := l.journalIntent(f)
	if err != nil {
		return err
	}
	r, err := codex.Call(ctx, l.client, protocol.ThreadGoalSetMethod, l.setParams(f))
	l.journalOutcome(intent, &codex.Reply{Method: protocol.ThreadGoalSetMethod.Name, Delivery: codex.DeliveryOf(err), Err: err, Result: &r})
	if err != nil {
		return fmt.Errorf("pause the stored goal: %w", err)
	}
	l.state.Goal = &r.Goal
	return nil
}
