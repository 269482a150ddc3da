package worker

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// settingsRecord is what a thread was given, and what the operation that runs on it
// was given beside that. A later one replaces it.
type settingsRecord struct {
	Thread   string   `json:"thread"`
	Settings Settings `json:"settings"`
	Held     *held    `json:"held,omitempty"`
}

// held is what holds for an operation alone, and for the owner that recovers it
// when it was cut off.
type held struct {
	Model  string         `json:"model,omitempty"`
	Effort string         `json:"effort,omitempty"`
	Config map[string]any `json:"config,omitempty"`
	Args   []string       `json:"args,omitempty"` // of the app-server
}

func heldOf(o Options) *held {
	h := held{Model: o.Thread.Model, Effort: o.Thread.Effort, Config: o.Thread.Config, Args: o.Codex.Args}
	if h.Model == "" && h.Effort == "" && len(h.Config) == 0 && len(h.Args) == 0 {
		return nil
	}
	return &h
}

// recovering are the options of an owner that goes on with what was cut off: where
// it is asked for nothing else, that holds still.
func (h *held) recovering(o Options) Options {
	if h == nil {
		return o
	}
	if o.Thread.Model == "" {
		o.Thread.Model = h.Model
	}
	if o.Thread.Effort == "" {
		o.Thread.Effort = h.Effort
	}
	if len(o.Thread.Config) == 0 {
		o.Thread.Config = h.Config
	}
	if len(o.Codex.Args) == 0 {
		o.Codex.Args = slices.Clone(h.Args)
	}
	return o
}

// findSettings learns what the stored thread was given: by us, else what Codex
// stored with it.
func (l *loop) findSettings(ctx context.Context, h *history, thread string) error {
	if h.Settings.Thread == thread {
		l.own, l.held = h.Settings.Settings, h.Settings.Held
	} else {
		own, err := storedSettings(ctx, l.client, thread)
		if err != nil {
			return err
		}
		l.own = own
	}
	return nil
}

// recoverHeld decides whether there is something to go on with: a goal that is
// still active. What another operation was given is not for this one.
func (l *loop) recoverHeld(goal *protocol.ThreadGoal, asked ThreadOptions) {
	if l.held == nil || goal == nil || goal.Status != protocol.ThreadGoalStatusActive {
		l.opts.Thread = asked
	}
	if l.state.Load != lifecycle.Loaded { // else it has just been started
		l.differs = l.differences(asked)
	}
}

func (l *loop) keepSettings() error {
	return appendRecord(l.log, recordSettings, settingsRecord{Thread: l.thread, Settings: l.own, Held: l.held})
}

// hold journals what an operation is given when it begins, and takes that back when
// it has ended in order: what a lost connection cut off is to be recovered.
func (l *loop) hold(effect lifecycle.Effect) {
	var now *held
	switch e := effect.(type) {
	case lifecycle.Began:
		now = heldOf(l.opts)
	case lifecycle.Ended:
		if e.Outcome.End == lifecycle.EndDisconnected {
			return
		}
	default:
		return
	}
	if reflect.DeepEqual(now, l.held) {
		return
	}
	l.held = now
	if err := l.keepSettings(); err != nil {
		l.opts.Logger.Error("what an operation was given is not journalled", "error", err)
	}
}

// loadedWith takes what the thread runs with once it is loaded. The sandbox, the
// approvals and the directory are its own from then on, unless only -c or the like
// says so; the model and the effort are those it had first.
func (l *loop) loadedWith(r *protocol.ThreadResumeResponse) {
	l.inForce = loadedSettings(r)
	own := l.inForce
	if l.own.Model != "" {
		own.Model, own.Effort = l.own.Model, l.own.Effort
	}
	if l.configured.overridesSandbox(l.opts.Thread) {
		switch {
		case l.opts.Thread.Sandbox != "":
			own.Sandbox = Sandbox{Mode: l.opts.Thread.Sandbox}
		case l.own.sandbox() != "":
			own.Sandbox, own.Profile = l.own.Sandbox, l.own.Profile
		}
	}
	if l.own.Approval != nil && l.opts.Thread.Approval == nil && l.configured.overrides(l.opts.Thread, "approval_policy") {
		own.Approval = l.own.Approval
	}
	if reflect.DeepEqual(own, l.own) {
		return
	}
	l.own = own
	if err := l.keepSettings(); err != nil {
		l.opts.Logger.Error("the thread's settings are not journalled", "error", err)
	}
}

func (l *loop) resumeParams() protocol.ThreadResumeParams {
	p := resumeParams(l.opts.Thread, l.own, l.configured, l.identity.Key.Dir)
	p.ThreadID = l.thread
	return p
}

// differences says what the stored thread will run with in another way than before,
// because it was asked for, or than a new thread here would.
func (l *loop) differences(given ThreadOptions) []string {
	o, own, fresh := l.opts.Thread, l.own, l.configured.fresh(l.identity.Key.Dir)
	asked := Settings{Dir: o.Dir, Model: o.Model, Effort: o.Effort, Approval: o.Approval, Sandbox: Sandbox{Mode: o.Sandbox}}
	var all []string
	for _, s := range []struct{ name, asked, own, fresh string }{
		{"sandbox", asked.sandbox(), own.sandbox(), fresh.sandbox()},
		{"approvals", asked.approval(), own.approval(), fresh.approval()},
		{"directory", asked.Dir, own.Dir, fresh.Dir},
		{"model", asked.Model, own.Model, fresh.Model},
		{"effort", asked.Effort, own.Effort, fresh.Effort},
	} {
		why := "as asked"
		if s.name == "model" && given.Model == "" || s.name == "effort" && given.Effort == "" {
			why = "as the work had that was cut off"
		}
		switch {
		case s.own == "":
		case s.asked != "" && s.asked != s.own:
			all = append(all, fmt.Sprintf("%s %s, %s; this thread had %s", s.name, s.asked, why, s.own))
		case s.asked == "" && s.fresh != "" && s.fresh != s.own:
			all = append(all, fmt.Sprintf("%s %s, as this thread has had it; a new one would have %s", s.name, s.own, s.fresh))
		}
	}
	return all
}

func (l *loop) readConfigured(ctx context.Context) {
	said, err := readConfigured(ctx, l.client, l.identity.Key.Dir)
	if err != nil && codex.DeliveryOf(err) != codex.Rejected {
		l.opts.Logger.Warn("what the configuration says could not be read", "error", err)
	}
	l.configured = said
}
