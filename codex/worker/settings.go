package worker

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/codex/protocol"
)

// Settings are what a thread's turns run with.
type Settings struct {
	Dir   string `json:"dir,omitempty"`   // where Codex works; "" not known
	Model string `json:"model,omitempty"` // "" not known
	// Effort is the reasoning effort; "" is the model's own.
	Effort   string                   `json:"effort,omitempty"`
	Approval *protocol.AskForApproval `json:"approval,omitempty"` // nil not known
	// Profile is the permission profile that is active; "" none. Sandbox is only
	// Codex's picture of one.
	Profile string  `json:"profile,omitempty"`
	Sandbox Sandbox `json:"sandbox,omitzero"`
}

// Sandbox is what commands may do. The zero Sandbox is one that is not known, or
// that no mode names.
type Sandbox struct {
	Mode protocol.SandboxMode `json:"mode,omitempty"`
	// Of workspace-write.
	Roots    []string `json:"writable_roots,omitempty"`
	Network  bool     `json:"network_access,omitempty"`
	NoTmpdir bool     `json:"exclude_tmpdir_env_var,omitempty"`
	NoTmp    bool     `json:"exclude_slash_tmp,omitempty"`
}

// sandbox is what commands may do, in a few words; "" not known.
func (s Settings) sandbox() string {
	switch {
	case s.Profile != "":
		return "permissions " + s.Profile
	case s.Sandbox.Mode == "":
		return ""
	}
	text := string(s.Sandbox.Mode)
	if len(s.Sandbox.Roots) > 0 {
		text += " and " + strings.Join(s.Sandbox.Roots, ", ")
	}
	if s.Sandbox.Network {
		text += " with network"
	}
	return text
}

func (s Settings) approval() string {
	if s.Approval == nil {
		return ""
	}
	return approvalText(*s.Approval)
}

func approvalText(a protocol.AskForApproval) string {
	if v, ok := a.Arm.(protocol.AskForApprovalValue); ok {
		return string(v)
	}
	b, err := json.Marshal(a)
	if err != nil {
		return "of its own kind"
	}
	return string(b)
}

// sandboxOf puts Codex's own words for a sandbox into ours.
func sandboxOf(p protocol.SandboxPolicy) Sandbox {
	switch p := p.Arm.(type) {
	case *protocol.SandboxPolicyReadOnly:
		return Sandbox{Mode: protocol.SandboxModeReadOnly}
	case *protocol.SandboxPolicyDangerFullAccess:
		return Sandbox{Mode: protocol.SandboxModeDangerFullAccess}
	case *protocol.SandboxPolicyWorkspaceWrite:
		is := func(b *bool) bool { return b != nil && *b }
		s := Sandbox{
			Mode: protocol.SandboxModeWorkspaceWrite, Network: is(p.NetworkAccess),
			NoTmpdir: is(p.ExcludeTmpdirEnvVar), NoTmp: is(p.ExcludeSlashTmp),
		}
		for _, root := range p.WritableRoots {
			s.Roots = append(s.Roots, string(root))
		}
		return s
	}
	return Sandbox{}
}

func startedSettings(r protocol.ThreadStartResponse) Settings {
	return settingsOf(r.Cwd, r.Model, r.ReasoningEffort, r.ApprovalPolicy, r.Sandbox, r.ActivePermissionProfile)
}

func loadedSettings(r *protocol.ThreadResumeResponse) Settings {
	return settingsOf(r.Cwd, r.Model, r.ReasoningEffort, r.ApprovalPolicy, r.Sandbox, r.ActivePermissionProfile)
}

func updatedSettings(s protocol.ThreadSettings) Settings {
	return settingsOf(s.Cwd, s.Model, s.Effort, s.ApprovalPolicy, s.SandboxPolicy, s.ActivePermissionProfile)
}

func settingsOf(dir protocol.AbsolutePathBuf, model string, effort *protocol.ReasoningEffort, approval protocol.AskForApproval, sandbox protocol.SandboxPolicy, profile *protocol.ActivePermissionProfile) Settings {
	s := Settings{Dir: string(dir), Model: model, Approval: &approval, Sandbox: sandboxOf(sandbox)}
	if effort != nil {
		s.Effort = string(*effort)
	}
	if profile != nil {
		s.Profile = profile.ID
	}
	return s
}

// configured is what the user's configuration says, with the layers of -c in it.
type configured struct {
	known bool
	says  Settings // zero where it says nothing
	// asked are the entries that this app-server was started with by -c.
	asked map[string]bool
}

// overrides reports whether one of the keys was given for this run by -c or as an
// override of the thread's configuration.
func (c configured) overrides(o ThreadOptions, keys ...string) bool {
	for _, key := range keys {
		if _, ok := o.Config[key]; ok || c.asked[key] {
			return true
		}
	}
	return false
}

// overridesSandbox reports whether the sandbox, or what it allows beside its mode,
// was given so.
func (c configured) overridesSandbox(o ThreadOptions) bool {
	return c.overrides(o, sandboxKeys...) || c.overridesDetails(o)
}

func (c configured) overridesDetails(o ThreadOptions) bool {
	const table = "sandbox_workspace_write"
	for key := range c.asked {
		if strings.HasPrefix(key, table) {
			return true
		}
	}
	for key := range o.Config {
		if strings.HasPrefix(key, table) {
			return true
		}
	}
	return false
}

// fresh is what a new thread in dir would run with, as far as that is known.
func (c configured) fresh(dir string) Settings {
	if !c.known {
		return Settings{}
	}
	s := c.says
	s.Dir = dir
	if s.sandbox() == "" {
		s.Sandbox.Mode = protocol.SandboxModeWorkspaceWrite
	}
	if s.Approval == nil {
		s.Approval = &protocol.AskForApproval{Arm: protocol.AskForApprovalOnRequest}
	}
	return s
}

var sandboxKeys = []string{"sandbox_mode", "default_permissions"}

// startParams say how a new thread begins: as asked, else as the user's
// configuration says, else as we do. Where nobody knows what the configuration
// says nothing of ours is put above it.
func startParams(o ThreadOptions, c configured, dir string) protocol.ThreadStartParams {
	config, _ := o.config() // checked when the manager was made
	p := protocol.ThreadStartParams{Cwd: protocol.Some(dir), Model: some(o.Model), Sandbox: some(o.Sandbox), Config: config}
	if o.Dir != "" {
		p.Cwd = protocol.Some(o.Dir)
	}
	if o.Sandbox == "" && c.known && c.says.sandbox() == "" && !c.overrides(o, sandboxKeys...) {
		p.Sandbox = protocol.Some(protocol.SandboxModeWorkspaceWrite)
	}
	switch {
	case o.Approval != nil:
		p.ApprovalPolicy = protocol.Some(*o.Approval)
	case c.known && c.says.Approval == nil && !c.overrides(o, "approval_policy"):
		p.ApprovalPolicy = protocol.Some(protocol.AskForApproval{Arm: protocol.AskForApprovalOnRequest})
	}
	return p
}

// resumeParams load a stored thread: as asked for this run, else with the settings
// of its own.
//
// 0.160.1 restores the approvals, the model and the effort of a thread by itself,
// over -c too, and takes the sandbox from the configuration. A model that is given
// resets the effort.
func resumeParams(o ThreadOptions, own Settings, c configured, dir string) protocol.ThreadResumeParams {
	if !c.overrides(o, "model_reasoning_effort") && o.Effort == "" {
		o.Effort = own.Effort
	} else if o.Effort == "" && c.asked["model_reasoning_effort"] {
		o.Effort = c.says.Effort
	}
	config, _ := o.config()
	withoutTurns := true // 0.160.1 warns of a resume that returns them
	p := protocol.ThreadResumeParams{ExcludeTurns: &withoutTurns}
	switch {
	case o.Dir != "":
		p.Cwd = protocol.Some(o.Dir)
	case own.Dir != "":
		p.Cwd = protocol.Some(own.Dir)
	default:
		p.Cwd = protocol.Some(dir)
	}
	switch {
	case o.Model != "":
		p.Model = some(o.Model)
	case c.asked["model"]:
		p.Model = some(c.says.Model)
	case !c.overrides(o, "model"):
		p.Model = some(own.Model)
	}
	switch {
	case o.Approval != nil:
		p.ApprovalPolicy = protocol.Some(*o.Approval)
	case c.asked["approval_policy"] && c.says.Approval != nil:
		p.ApprovalPolicy = protocol.Some(*c.says.Approval)
	case own.Approval != nil && !c.overrides(o, "approval_policy"):
		p.ApprovalPolicy = protocol.Some(*own.Approval)
	}
	switch {
	case o.Sandbox != "":
		p.Sandbox = some(o.Sandbox)
	case c.overrides(o, sandboxKeys...):
	case own.Profile != "":
		p.Permissions = some(own.Profile)
	case own.Sandbox.Mode != "":
		p.Sandbox = some(own.Sandbox.Mode)
		if !c.overridesDetails(o) {
			config = withSandbox(config, own.Sandbox)
		}
	case reflect.DeepEqual(own, Settings{}) && c.known && c.says.sandbox() == "":
		p.Sandbox = some(protocol.SandboxModeWorkspaceWrite)
	}
	p.Config = config
	return p
}

func some[T ~string](v T) protocol.Opt[T] {
	if v == "" {
		return protocol.Opt[T]{}
	}
	return protocol.Some(v)
}

// withSandbox adds what a mode alone does not say.
func withSandbox(config protocol.Opt[map[string]jsontext.Value], s Sandbox) protocol.Opt[map[string]jsontext.Value] {
	if s.Mode != protocol.SandboxModeWorkspaceWrite {
		return config
	}
	values := map[string]jsontext.Value{}
	given, _ := config.Get()
	maps.Copy(values, given)
	if s.Roots == nil {
		s.Roots = []string{}
	}
	b, err := json.Marshal(map[string]any{
		"writable_roots": s.Roots, "network_access": s.Network,
		"exclude_tmpdir_env_var": s.NoTmpdir, "exclude_slash_tmp": s.NoTmp,
	})
	if err != nil {
		panic("worker: " + err.Error())
	}
	values["sandbox_workspace_write"] = b
	return protocol.Some(values)
}
