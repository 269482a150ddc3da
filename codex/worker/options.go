package worker

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
)

// Options says how a [Manager] runs its workers. The zero value is useful.
type Options struct {
	// Codex starts the app-servers. Its Dir is replaced by the key's.
	Codex codex.Options
	// StateDir keeps journals and locks: made on first use, and refused if others
	// could change it. "" is $XDG_STATE_HOME/codexctl, else ~/.local/state/codexctl,
	// both of the environment that Codex gets. A relative one is made absolute
	// at once.
	StateDir string
	// Thread is how threads are started and resumed.
	Thread ThreadOptions
	// ResumePaused pauses a stored active goal before its thread is resumed, so
	// that no work starts by itself.
	ResumePaused bool
	// WithoutDir opens workers whose directory is gone, to look at a stored goal, to
	// pause it or to clear it: Codex needs no directory for that. Their app-server
	// runs in the state directory. What begins work then fails.
	WithoutDir bool
	// AnyConfig goes on when Codex cannot read its configuration and runs on its
	// defaults: enough to look at a thread, to pause and to clear its goal. Without
	// it the worker is not opened then, and the error is a [codex.ConfigError].
	AnyConfig bool
	// Socket names the control socket of a worker, for those who find it owned.
	// Nil is none.
	Socket func(Identity) string

	// IdleTimeout is how long a worker without an operation and without a
	// subscriber to its events lives. 0 is 10 minutes; negative is for ever.
	IdleTimeout time.Duration
	// StallTimeout is how long an active goal may run no turn before it is looked
	// into. 0 is 10 seconds.
	StallTimeout time.Duration
	// PredecessorTimeout is how long a new worker waits for the app-server of a
	// dead owner to end. 0 is 10 seconds.
	PredecessorTimeout time.Duration

	// Logger gets what an operator may want to know. Nil discards it.
	Logger *slog.Logger
}

// Times that callers have no reason to change.
const (
	// For a goal call of a stop. 0.160.1 itself waits up to 5 s for a state database
	// that another process has locked, and then answers.
	stopAnswer = 7 * time.Second
	stopTurn   = 10 * time.Second       // for a turn to start or end under a stop
	stopGrace  = 300 * time.Millisecond // for a turn that starts behind a pause: seen within 50 ms
)

// ThreadOptions are what is asked of a thread. What is left out is as it was given
// to the thread before; for a new one it is as the user's configuration says, and
// where that says nothing the sandbox is workspace-write and approvals are
// on-request.
//
// Dir, Sandbox and Approval stay with the thread. Model, Effort and Config hold for
// the worker's life, and for the recovery of an operation that was cut off.
type ThreadOptions struct {
	Dir     string // absolute; "" is the key's for a new thread
	Model   string
	Effort  string // reasoning effort
	Sandbox protocol.SandboxMode
	// Approval is when Codex asks before it acts.
	Approval *protocol.AskForApproval
	// Config overrides Codex's configuration for the thread, by dotted key. The
	// values must be JSON values.
	Config map[string]any
}

func (o ThreadOptions) config() (protocol.Opt[map[string]jsontext.Value], error) {
	values := map[string]jsontext.Value{}
	for key, v := range o.Config {
		b, err := json.Marshal(v)
		if err != nil {
			return protocol.Opt[map[string]jsontext.Value]{}, fmt.Errorf("thread config %s: %w", key, err)
		}
		values[key] = b
	}
	if o.Effort != "" {
		b, err := json.Marshal(o.Effort)
		if err != nil {
			return protocol.Opt[map[string]jsontext.Value]{}, err
		}
		values["model_reasoning_effort"] = b
	}
	if len(values) == 0 {
		return protocol.Opt[map[string]jsontext.Value]{}, nil
	}
	return protocol.Some(values), nil
}

func (o Options) withDefaults() (Options, error) {
	if o.StateDir == "" {
		dir, err := stateDir(o.Codex.Env)
		if err != nil {
			return o, err
		}
		o.StateDir = dir
	}
	dir, err := filepath.Abs(o.StateDir)
	if err != nil {
		return o, fmt.Errorf("state directory: %w", err)
	}
	o.StateDir = dir
	if o.IdleTimeout == 0 {
		o.IdleTimeout = 10 * time.Minute
	}
	if o.StallTimeout == 0 {
		o.StallTimeout = 10 * time.Second
	}
	if o.PredecessorTimeout == 0 {
		o.PredecessorTimeout = 10 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	_, err = o.Thread.config()
	return o, err
}

func stateDir(env []string) (string, error) {
	if dir := lookup(env, "XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "codexctl"), nil
	}
	home, err := userHome(env)
	if err != nil {
		return "", fmt.Errorf("no place for private state: %w; set HOME or XDG_STATE_HOME", err)
	}
	return filepath.Join(home, ".local", "state", "codexctl"), nil
}
