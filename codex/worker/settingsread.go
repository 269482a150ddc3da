package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
)

// readConfigured asks Codex what the user's configuration says for dir. That it
// cannot be read leaves everything to Codex.
func readConfigured(ctx context.Context, c *codex.Client, dir string) (configured, error) {
	r, err := codex.Call(ctx, c, protocol.ConfigReadMethod, protocol.ConfigReadParams{Cwd: protocol.Some(dir)})
	if err != nil {
		return configured{}, err
	}
	said := configured{known: true, asked: map[string]bool{}}
	said.says.Approval = r.Config.ApprovalPolicy
	if mode := r.Config.SandboxMode; mode != nil {
		said.says.Sandbox.Mode = *mode
	}
	if details := r.Config.SandboxWorkspaceWrite; details != nil && said.says.Sandbox.Mode == protocol.SandboxModeWorkspaceWrite {
		is := func(b *bool) bool { return b != nil && *b }
		said.says.Sandbox.Roots, said.says.Sandbox.Network = details.WritableRoots, is(details.NetworkAccess)
	}
	if profile, ok := r.Config.Rest["default_permissions"]; ok {
		_ = json.Unmarshal(profile, &said.says.Profile) // null is none
	}
	if r.Config.Model != nil {
		said.says.Model = *r.Config.Model
	}
	if r.Config.ModelReasoningEffort != nil {
		said.says.Effort = string(*r.Config.ModelReasoningEffort)
	}
	for key, from := range r.Origins {
		if _, ok := from.Name.Arm.(*protocol.ConfigLayerSourceSessionFlags); ok {
			said.asked[key] = true
		}
	}
	return said, nil
}

// turnContext is the line of a rollout that says what a turn ran with. No call of
// 0.160.1 tells the sandbox of a thread that is not loaded.
type turnContext struct {
	Type    string `json:"type"`
	Payload struct {
		Dir      string                   `json:"cwd"`
		Model    string                   `json:"model"`
		Effort   string                   `json:"effort"`
		Approval *protocol.AskForApproval `json:"approval_policy"`
		Sandbox  struct {
			Type string `json:"type"`
			Sandbox
		} `json:"sandbox_policy"`
		Profile *struct {
			ID string `json:"id"`
		} `json:"active_permission_profile"`
		Mode struct {
			Settings struct {
				Effort string `json:"reasoning_effort"`
			} `json:"settings"`
		} `json:"collaboration_mode"`
	} `json:"payload"`
}

// storedSettings reads what Codex stored with a thread: the settings of its last
// turn. They are zero for a thread without a turn.
func storedSettings(ctx context.Context, c *codex.Client, thread string) (Settings, error) {
	r, err := codex.Call(ctx, c, protocol.ThreadReadMethod, protocol.ThreadReadParams{ThreadID: thread})
	if err != nil {
		return Settings{}, fmt.Errorf("read the settings of thread %s: %w", thread, err)
	}
	if r.Thread.Path == nil {
		return Settings{}, nil
	}
	f, err := os.Open(*r.Thread.Path)
	if errors.Is(err, os.ErrNotExist) {
		return Settings{}, nil
	}
	if err != nil {
		return Settings{}, fmt.Errorf("read the settings of thread %s: %w", thread, err)
	}
	defer f.Close()
	s, err := lastSettings(f)
	if err != nil {
		return Settings{}, fmt.Errorf("read the settings of thread %s: %s: %w", thread, *r.Thread.Path, err)
	}
	return s, nil
}

// lastSettings finds the last turn_context of a rollout.
func lastSettings(rollout io.Reader) (Settings, error) {
	lines, last := bufio.NewReaderSize(rollout, 1<<16), turnContext{}
	for {
		line, err := lines.ReadBytes('\n')
		if bytes.Contains(line, []byte(`"turn_context"`)) {
			var at turnContext
			// A line that is cut short, or a message with the word in it, is none.
			if json.Unmarshal(line, &at) == nil && at.Type == "turn_context" {
				last = at
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Settings{}, err
		}
	}
	p := last.Payload
	s := Settings{Dir: p.Dir, Model: p.Model, Effort: p.Effort, Approval: p.Approval, Sandbox: p.Sandbox.Sandbox}
	if s.Effort == "" {
		s.Effort = p.Mode.Settings.Effort
	}
	if p.Profile != nil {
		s.Profile = p.Profile.ID
	}
	if mode := protocol.SandboxMode(p.Sandbox.Type); mode.Known() {
		s.Sandbox.Mode = mode
	}
	return s, nil
}
