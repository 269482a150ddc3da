package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// codexOptions reach Codex, by its own names. They matter to the process that
// becomes the owner; an owner that is there already has its own.
type codexOptions struct {
	sandbox  string
	approval string
	model    string
	effort   string
	config   []string
	profile  string
	trace    string
	dir      string // a stored thread is to work there from now on
}

func (o *codexOptions) register(flags *pflag.FlagSet) {
	flags.StringVarP(&o.sandbox, "sandbox", "s", "", "read-only, workspace-write or danger-full-access (default: the thread's own; for a new one the configuration's, else workspace-write)")
	flags.StringVarP(&o.approval, "approval-policy", "a", "", "on-request, never or untrusted (default: likewise, else on-request)")
	flags.StringVarP(&o.model, "model", "m", "", "the model for this work (default: the thread's own)")
	flags.StringVar(&o.effort, "effort", "", "the reasoning effort for this work (default: the thread's own)")
	flags.StringArrayVarP(&o.config, "config", "c", nil, "override a `key=value` of Codex's configuration for this work; may be repeated")
	flags.StringVarP(&o.profile, "profile", "p", "", "layer `NAME`.config.toml of CODEX_HOME over the configuration")
	flags.StringVar(&o.trace, "trace", "", "write every frame to and from Codex to `FILE`, secrets masked")
	flags.StringVar(&o.dir, "thread-dir", "", "for an owner in the background: move the thread to this directory")
	_ = flags.MarkHidden("thread-dir")
}

// check refuses values that Codex would not know, before anything starts.
func (o codexOptions) check() error {
	if o.sandbox != "" && !protocol.SandboxMode(o.sandbox).Known() {
		return usageError("--sandbox %s: it is read-only, workspace-write or danger-full-access", o.sandbox)
	}
	if o.approval != "" && !protocol.AskForApprovalValue(o.approval).Known() {
		return usageError("--approval-policy %s: it is on-request, never or untrusted", o.approval)
	}
	for _, c := range o.config {
		if !isAssignment(c) {
			return usageError("--config %s: write key=value", c)
		}
	}
	return nil
}

func isAssignment(s string) bool {
	for i, r := range s {
		if r == '=' {
			return i > 0
		}
	}
	return false
}

// worker makes the options of a manager. The closer gives back what they hold.
func (o codexOptions) worker(state string, codexHome string) (worker.Options, io.Closer, error) {
	opts := worker.Options{
		StateDir: state,
		Codex:    codex.Options{Client: codex.ClientInfo{Name: "codexctl", Title: "codexctl", Version: moduleVersion()}},
		Thread:   worker.ThreadOptions{Dir: o.dir, Model: o.model, Effort: o.effort, Sandbox: protocol.SandboxMode(o.sandbox)},
	}
	if o.approval != "" {
		opts.Thread.Approval = &protocol.AskForApproval{Arm: protocol.AskForApprovalValue(o.approval)}
	}
	profile, err := profileArgs(codexHome, o.profile)
	if err != nil {
		return opts, nil, err
	}
	opts.Codex.Args = profile
	for _, c := range o.config {
		opts.Codex.Args = append(opts.Codex.Args, "-c", c)
	}
	if o.trace == "" {
		return opts, io.NopCloser(nil), nil
	}
	f, err := os.OpenFile(o.trace, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return opts, nil, usageError("--trace: %w", err)
	}
	opts.Codex.Trace = f
	return opts, f, nil
}

// timeoutFlag is a duration that has to be positive where it is given.
type timeoutFlag time.Duration

func (t *timeoutFlag) String() string {
	if *t == 0 {
		return ""
	}
	return time.Duration(*t).String()
}

func (t *timeoutFlag) Type() string { return "duration" }

func (t *timeoutFlag) Set(s string) error {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return errors.New("write a duration such as 90s, 30m or 2h")
	case d <= 0:
		return fmt.Errorf("%s is not a time that could pass", s)
	}
	*t = timeoutFlag(d)
	return nil
}
