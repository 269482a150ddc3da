package worker_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// live is what Codex itself says that the thread runs with: a resume of a loaded
// thread changes nothing.
func (d *desk) live(w *worker.Worker) protocol.ThreadResumeResponse {
	d.Helper()
	r, err := codex.Call(d.ctx, w.Client(), protocol.ThreadResumeMethod, protocol.ThreadResumeParams{ThreadID: w.Thread()})
	must(d.T, err)
	return r
}

// words are a thread's settings in a line.
func words(r protocol.ThreadResumeResponse) string {
	sandbox, _ := r.Sandbox.MarshalJSON()
	approval, _ := r.ApprovalPolicy.MarshalJSON()
	profile, effort := "none", "none"
	if r.ActivePermissionProfile != nil {
		profile = r.ActivePermissionProfile.ID
	}
	if r.ReasoningEffort != nil {
		effort = string(*r.ReasoningEffort)
	}
	return strings.Join([]string{string(sandbox), string(approval), profile, r.Model, effort, string(r.Cwd)}, " ")
}

// configure writes the user's configuration anew.
func (d *desk) configure(settings map[string]string, tables string) {
	d.Helper()
	home, err := codextest.NewHome(filepath.Dir(d.home.Path), d.model.URL(), codextest.HomeOptions{Settings: settings, Tables: tables})
	must(d.T, err)
	d.home = home
}

var (
	silent = map[string]string{"sandbox_mode": "", "approval_policy": ""}
	never  = &protocol.AskForApproval{Arm: protocol.AskForApprovalNever}
)

func TestANewThreadHasWhatIsAskedElseWhatIsConfiguredElseOurDefault(t *testing.T) {
	t.Parallel()
	profile := "\n[permissions.work.filesystem]\n\":root\" = \"read\"\n\"/opt\" = \"write\"\n"
	for _, c := range []struct {
		name     string
		settings map[string]string
		args     []string
		asked    worker.ThreadOptions
		want     string
	}{
		{"configured", map[string]string{}, nil, worker.ThreadOptions{}, `{"type":"readOnly","networkAccess":false} "never" none`},
		{"nothing said", silent, nil, worker.ThreadOptions{}, `{"type":"workspaceWrite","excludeSlashTmp":false,"excludeTmpdirEnvVar":false,"networkAccess":false,"writableRoots":[]} "on-request" none`},
		{"asked", map[string]string{}, nil, worker.ThreadOptions{Sandbox: protocol.SandboxModeDangerFullAccess, Approval: &protocol.AskForApproval{Arm: protocol.AskForApprovalOnRequest}}, `{"type":"dangerFullAccess"} "on-request" none`},
		{"by -c", silent, []string{"-c", "sandbox_mode=read-only", "-c", "approval_policy=never"}, worker.ThreadOptions{}, `{"type":"readOnly","networkAccess":false} "never" none`},
		{"by an override", silent, nil, worker.ThreadOptions{Config: map[string]any{"sandbox_mode": "read-only", "approval_policy": "never"}}, `{"type":"readOnly","networkAccess":false} "never" none`},
		{"by a permission profile", map[string]string{"sandbox_mode": "", "default_permissions": `"work"`}, nil, worker.ThreadOptions{}, `{"type":"workspaceWrite","excludeSlashTmp":true,"excludeTmpdirEnvVar":true,"networkAccess":false,"writableRoots":["/opt"]} "never" work`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
			tables := ""
			if c.settings["default_permissions"] != "" {
				tables = profile
			}
			d.configure(c.settings, tables)
			d.opts.Thread, d.opts.Codex.Args = c.asked, c.args
			d.open()
			w := d.worker()
			d.wait(d.prompt(w, "hello"))
			if got := words(d.live(w)); !strings.HasPrefix(got, c.want) {
				t.Errorf("it runs with\n%s, want\n%s", got, c.want)
			}
			if diff := w.Differences(); diff != nil {
				t.Errorf("a new thread differs: %q", diff)
			}
		})
	}
}

// again is the next owner of the desk's key, with other options.
func (d *desk) again(w *worker.Worker, thread worker.ThreadOptions, args ...string) *worker.Worker {
	d.Helper()
	must(d.T, w.Close(d.ctx))
	d.opts.Thread, d.opts.Codex.Args = thread, args
	d.open()
	return d.worker()
}

func TestAThreadKeepsItsOwnSettingsOverOwnersUntilAFlagChangesThem(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	d.configure(silent, "")
	d.opts.Thread = worker.ThreadOptions{Sandbox: protocol.SandboxModeReadOnly, Approval: never}
	d.open()
	w := d.worker()
	d.wait(d.prompt(w, "one"))
	own := words(d.live(w))

	w = d.again(w, worker.ThreadOptions{})
	if diff := strings.Join(w.Differences(), "; "); !strings.Contains(diff, "sandbox read-only, as this thread has had it; a new one would have workspace-write") || !strings.Contains(diff, "approvals never") {
		t.Errorf("what differs is said to be %q", diff)
	}
	d.wait(d.prompt(w, "two"))
	if got := words(d.live(w)); got != own {
		t.Errorf("without flags it runs with\n%s, was\n%s", got, own)
	}
	// For this work only.
	w = d.again(w, worker.ThreadOptions{Model: "another", Effort: "high"}, "-c", "sandbox_mode=danger-full-access")
	d.wait(d.prompt(w, "three"))
	if got := words(d.live(w)); !strings.HasPrefix(got, `{"type":"dangerFullAccess"} "never" none another high`) {
		t.Errorf("with flags for the work it runs with %s", got)
	}
	w = d.again(w, worker.ThreadOptions{})
	d.wait(d.prompt(w, "four"))
	if got := words(d.live(w)); got != own {
		t.Errorf("after that it runs with\n%s, was\n%s", got, own)
	}
	// From here on.
	w = d.again(w, worker.ThreadOptions{Sandbox: protocol.SandboxModeWorkspaceWrite})
	if diff := w.Differences(); !slices.Contains(diff, "sandbox workspace-write, as asked; this thread had read-only") {
		t.Errorf("what differs is said to be %q", diff)
	}
	d.wait(d.prompt(w, "five"))
	w = d.again(w, worker.ThreadOptions{})
	d.wait(d.prompt(w, "six"))
	if got := words(d.live(w)); !strings.HasPrefix(got, `{"type":"workspaceWrite"`) || !strings.Contains(got, `"never" none gpt-5.5 none`) {
		t.Errorf("the sandbox that a flag gave is not kept: %s", got)
	}
}

func TestWhatAnOperationWasGivenHoldsForItsRecoveryAndNoLonger(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{codextest.Text("Yes.")},
		codextest.Reply{codextest.Text("Working"), gate},
		codextest.Reply{codextest.UpdateGoal("complete")},
		codextest.Reply{codextest.Text("Done.")},
		codextest.Reply{codextest.Text("Yes.")},
	))
	d.opts.Thread = worker.ThreadOptions{Sandbox: protocol.SandboxModeWorkspaceWrite}
	d.open()
	d.wait(d.prompt(d.worker(), "the thread begins with the configured model"))
	d.opts.Thread, d.opts.Codex.Args = worker.ThreadOptions{Model: "another", Effort: "high"}, []string{"-c", "sandbox_workspace_write.network_access=true"}
	must(t, d.manager.Close(d.ctx))
	d.open()
	d.leaveActive(gate, "be cut off")

	d.opts.Thread, d.opts.Codex.Args = worker.ThreadOptions{}, nil
	d.open()
	w := d.worker()
	c, err := w.ResumeGoal(d.ctx, worker.GoalSpec{})
	must(t, err)
	d.wantEnd(d.wait(c.Operation), worker.EndComplete, protocol.ThreadGoalStatusComplete)
	const cut = `{"type":"workspaceWrite","excludeSlashTmp":false,"excludeTmpdirEnvVar":false,"networkAccess":true,"writableRoots":[]} "never" none another high`
	if got := words(d.live(w)); !strings.HasPrefix(got, cut) {
		t.Errorf("the recovery runs with\n%s, want\n%s", got, cut)
	}
	w = d.again(w, worker.ThreadOptions{})
	d.wait(d.prompt(w, "and then"))
	if got := words(d.live(w)); !strings.HasPrefix(got, strings.NewReplacer("true", "false", "another high", "gpt-5.5 none").Replace(cut)) {
		t.Errorf("after it the thread runs with %s", got)
	}
}

func TestAPermissionProfileIsKeptAsWhatItIs(t *testing.T) {
	t.Parallel()
	const table = "\n[permissions.work.filesystem]\n\":root\" = \"read\"\n\"/opt\" = \"write\"\n"
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	d.configure(map[string]string{"sandbox_mode": "", "default_permissions": `"work"`}, table)
	w := d.worker()
	d.wait(d.prompt(w, "one"))
	own := words(d.live(w))
	if !strings.Contains(own, " work ") {
		t.Fatalf("no permission profile is active: %s", own)
	}
	must(t, w.Close(d.ctx))
	// The configuration allows more by now; the thread does not.
	d.configure(map[string]string{"sandbox_mode": `"danger-full-access"`}, table)
	w = d.again(w, worker.ThreadOptions{})
	d.wait(d.prompt(w, "two"))
	if got := words(d.live(w)); got != own {
		t.Errorf("it runs with\n%s, was\n%s", got, own)
	}
}

func TestAnAdoptedThreadKeepsWhatCodexStoredWithIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	d.configure(map[string]string{"sandbox_mode": `"danger-full-access"`, "approval_policy": ""}, "")
	elsewhere, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	thread, stored := d.foreign(elsewhere)

	w, err := d.manager.Adopt(d.ctx, d.key(), thread)
	must(t, err)
	diff := strings.Join(w.Differences(), "; ")
	for _, want := range []string{"sandbox workspace-write and /opt with network, as this thread has had it; a new one would have danger-full-access", "approvals never", "directory " + elsewhere} {
		if !strings.Contains(diff, want) {
			t.Errorf("what differs is said to be %q, want %q", diff, want)
		}
	}
	d.wait(d.prompt(w, "go on"))
	if got := words(d.live(w)); got != stored {
		t.Errorf("adopted it runs with\n%s, was\n%s", got, stored)
	}
	// And so it stays, with the directory and all.
	w = d.again(w, worker.ThreadOptions{})
	d.wait(d.prompt(w, "still there?"))
	if got := words(d.live(w)); got != stored {
		t.Errorf("later it runs with\n%s, was\n%s", got, stored)
	}
	w = d.again(w, worker.ThreadOptions{Dir: d.dir, Sandbox: protocol.SandboxModeReadOnly})
	d.wait(d.prompt(w, "here now"))
	if got := words(d.live(w)); !strings.HasPrefix(got, `{"type":"readOnly"`) || strings.Contains(got, elsewhere) {
		t.Errorf("with flags it runs with %s", got)
	}
}

// foreign is a thread of another client's, with settings that no configuration has.
func (d *desk) foreign(dir string) (thread, stored string) {
	d.Helper()
	c, err := codex.Start(d.ctx, codex.Options{Path: d.opts.Codex.Path, Env: d.home.Env(), Dir: dir})
	must(d.T, err)
	defer c.Close()
	r, err := codex.Call(d.ctx, c, protocol.ThreadStartMethod, protocol.ThreadStartParams{
		Cwd: protocol.Some(dir), ApprovalPolicy: protocol.Some(*never), Model: protocol.Some("theirs"),
		Sandbox: protocol.Some(protocol.SandboxModeWorkspaceWrite),
		Config: protocol.Some(map[string]jsontext.Value{
			"model_reasoning_effort": jsontext.Value(`"low"`), "sandbox_workspace_write.network_access": jsontext.Value(`true`),
			"sandbox_workspace_write.writable_roots": jsontext.Value(`["/opt"]`), "sandbox_workspace_write.exclude_slash_tmp": jsontext.Value(`true`),
		}),
	})
	must(d.T, err)
	events := c.Subscribe(codex.SubscribeOptions{Thread: r.Thread.ID})
	_, err = codex.Call(d.ctx, c, protocol.TurnStartMethod, protocol.TurnStartParams{
		ThreadID: r.Thread.ID, Input: []protocol.UserInput{{Arm: &protocol.UserInputText{Text: "begin"}}},
	})
	must(d.T, err)
	for {
		e, err := events.Next(d.ctx)
		must(d.T, err)
		if _, over := e.Notification.(*protocol.TurnCompletedNotification); over {
			break
		}
	}
	live, err := codex.Call(d.ctx, c, protocol.ThreadResumeMethod, protocol.ThreadResumeParams{ThreadID: r.Thread.ID})
	must(d.T, err)
	return r.Thread.ID, words(live)
}
