package worker_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// written waits until a file has a process id in it.
func (d *desk) written(path string) codex.ProcessID {
	d.Helper()
	var id codex.ProcessID
	d.until("a process id in "+path, func() bool {
		b, err := os.ReadFile(path)
		pid, atoi := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil || atoi != nil || !strings.HasSuffix(string(b), "\n") {
			return false
		}
		id, err = codex.IdentifyProcess(pid)
		return err == nil
	})
	d.Cleanup(func() {
		if id.Alive() {
			_ = syscall.Kill(id.PID, syscall.SIGKILL)
		}
	})
	return id
}

// until waits for a condition.
func (d *desk) until(what string, done func() bool) {
	d.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for !done() {
		select {
		case <-poll.C:
		case <-d.ctx.Done():
			d.Fatalf("never: %s", what)
		}
	}
}

// exits has the app-server run under a shell that writes down how it ended.
func (d *desk) exits() (status string) {
	d.Helper()
	dir := d.TempDir()
	status = filepath.Join(dir, "status")
	script := fmt.Sprintf("#!/bin/sh\n%q \"$@\"\ns=$?\nif [ \"$1\" = app-server ]; then echo $s >%q; fi\nexit $s\n", d.opts.Codex.Path, status)
	d.opts.Codex.Path = filepath.Join(dir, "codex")
	if err := os.WriteFile(d.opts.Codex.Path, []byte(script), 0o700); err != nil {
		d.Fatal(err)
	}
	return status
}

func TestAnOrderlyEndIsGivenItsTimeAndLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*desk, *worker.Worker) error{
		"worker":  func(d *desk, w *worker.Worker) error { return w.Close(d.ctx) },
		"manager": func(d *desk, _ *worker.Worker) error { return d.manager.Close(d.ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := codextest.NewGate()
			defer gate.Open()
			d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Working"), gate}))
			status, stub := d.exits(), filepath.Join(t.TempDir(), "stub")
			d.home = codextest.TempHome(t, d.model, codextest.HomeOptions{Settings: map[string]string{
				"mcp_servers.deaf.command": strconv.Quote(os.Args[0]),
				"mcp_servers.deaf.env":     fmt.Sprintf("{%s = %q}", deafEnv, stub),
			}})
			d.opts.Codex.Env = d.home.Env()
			d.open()
			w := d.worker()
			op := d.set(w, "until closed").Operation
			d.reached(gate)
			deaf := d.written(stub)
			if err := end(d, w); err != nil {
				t.Fatal(err)
			}
			d.wantEnd(d.wait(op), worker.EndStopped, protocol.ThreadGoalStatusPaused)
			if b, err := os.ReadFile(status); err != nil || strings.TrimSpace(string(b)) != "0" {
				t.Errorf("the app-server ended with %q, %v", b, err)
			}
			if deaf.Alive() {
				t.Error("an MCP server that heeds neither the end of its input nor SIGTERM was left behind")
			}
		})
	}
}

// leaves is a command that leaves a child in a session of its own behind, and goes on
// by itself until it is ended. Both write their ids down.
func leaves(dir string) (command, own, child string) {
	own, child = filepath.Join(dir, "own"), filepath.Join(dir, "child")
	return fmt.Sprintf("setsid sh -c 'echo $$ >%s; exec sleep 1000' & echo $$ >%s; while :; do sleep 1000; done", child, own), own, child
}

// outside is a desk whose commands run outside the sandbox.
func outside(t *testing.T, script codextest.Script) *desk {
	d := newDesk(t, script)
	d.opts.Thread.Sandbox = protocol.SandboxModeDangerFullAccess
	d.open()
	return d
}

func runs(command string) codextest.Step {
	return codextest.Call("exec_command", map[string]any{"cmd": command, "yield_time_ms": 250})
}

func TestAStopEndsWhatTheTurnHasLeftRunning(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	defer gate.Open()
	command, ownFile, childFile := leaves(t.TempDir())
	d := outside(t, codextest.InOrder(
		codextest.Reply{runs(command)},
		codextest.Reply{codextest.Text("It runs."), gate},
	))
	w := d.worker()
	op := d.set(w, "leave something").Operation
	d.reached(gate)
	own, child := d.written(ownFile), d.written(childFile)
	out, err := w.Stop(d.ctx)
	if err != nil || !out.AtRest() {
		t.Fatalf("stop: %+v, %v", out, err)
	}
	if own.Alive() || child.Alive() {
		t.Errorf("after the stop the command runs %t, its child %t", own.Alive(), child.Alive())
	}
	kind := func(k worker.LeftoverKind) bool {
		return slices.ContainsFunc(out.Ended, func(o worker.Leftover) bool { return o.Kind == k && o.Thread == w.Thread() })
	}
	if !kind(worker.LeftTerminal) || !kind(worker.LeftProcess) {
		t.Errorf("the stop says that it ended %v", out.Ended)
	}
	d.wantEnd(d.wait(op), worker.EndStopped, protocol.ThreadGoalStatusPaused)
	row(t, "stop with a command and its setsid child in the background", 1, "both ended, and named")
}

func TestWhatRunsBehindACompletedGoalIsOnlyNamed(t *testing.T) {
	t.Parallel()
	command, ownFile, childFile := leaves(t.TempDir())
	d := outside(t, codextest.InOrder(
		codextest.Reply{runs(command)},
		codextest.Reply{codextest.UpdateGoal("complete")},
		codextest.Reply{codextest.Text("Done.")},
	))
	w := d.worker()
	op := d.set(w, "leave something").Operation
	own, child := d.written(ownFile), d.written(childFile)
	d.wantEnd(d.wait(op), worker.EndComplete, protocol.ThreadGoalStatusComplete)
	d.until("status names what runs", func() bool {
		left := w.Status().Running
		return slices.ContainsFunc(left, func(o worker.Leftover) bool { return o.Kind == worker.LeftTerminal }) &&
			slices.ContainsFunc(left, func(o worker.Leftover) bool { return o.Kind == worker.LeftProcess && o.PID == child.PID })
	})
	if !own.Alive() || !child.Alive() {
		t.Errorf("behind a completed goal the command runs %t, its child %t", own.Alive(), child.Alive())
	}
	if err := w.Close(d.ctx); err != nil {
		t.Fatal(err)
	}
	if own.Alive() || !child.Alive() {
		t.Errorf("after the close the command runs %t, its child %t", own.Alive(), child.Alive())
	}
	stored, err := worker.ReadStored(worker.IdentityDir(d.opts.StateDir, w.Identity()))
	if err != nil {
		t.Fatal(err)
	}
	left := stored.Orphans(d.opts.StateDir)
	if !slices.ContainsFunc(left, func(o worker.Leftover) bool { return o.PID == child.PID && strings.Contains(o.Name, "sleep") }) {
		t.Errorf("the session's orphans are %v", left)
	}
}

func TestACloseInTheMiddleOfWorkEndsItsSessionsToo(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	defer gate.Open()
	command, _, childFile := leaves(t.TempDir())
	d := outside(t, codextest.InOrder(
		codextest.Reply{runs(command)},
		codextest.Reply{codextest.Text("It runs."), gate},
	))
	w := d.worker()
	d.set(w, "leave something")
	d.reached(gate)
	child := d.written(childFile)
	if err := w.Client().Kill(); err != nil { // as a crash of the app-server
		t.Fatal(err)
	}
	<-w.Done()
	if child.Alive() {
		t.Error("what the app-server had lost sight of goes on without an owner")
	}
}

// suspend stops the app-server for a while, or for ever.
func (d *desk) suspend(w *worker.Worker, long time.Duration) {
	d.Helper()
	pid := w.Client().Server().Process.PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		d.Fatal(err)
	}
	if long > 0 {
		time.AfterFunc(long, func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	}
}

func TestAStopWaitsLongerThanCodexForItsDatabase(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	defer gate.Open()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Working"), gate}))
	w := d.worker()
	op := d.set(w, "stop me").Operation
	d.reached(gate)
	d.suspend(w, 3*time.Second)
	if out, err := w.Stop(d.ctx); err != nil || !out.AtRest() {
		t.Errorf("stop: %+v, %v", out, err)
	}
	d.wantEnd(d.wait(op), worker.EndStopped, protocol.ThreadGoalStatusPaused)
}

func TestAStopWithoutAnAnswerReadsTheGoalBackAndPausesIt(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	defer gate.Open()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Working"), gate}))
	w := d.worker()
	op := d.set(w, "stop me").Operation
	d.reached(gate)
	d.suspend(w, 0)
	out, err := w.Stop(d.ctx)
	var told *worker.StopError
	if !errors.As(err, &told) || !errors.Is(err, worker.ErrStopTimeout) || errors.Is(err, worker.ErrStopUnknown) {
		t.Fatalf("stop: %v", err)
	}
	if !out.AtRest() || told.Goal == nil || told.Goal.Status != protocol.ThreadGoalStatusPaused {
		t.Errorf("stop: %+v, goal %+v", out, told.Goal)
	}
	d.wantEnd(d.wait(op), worker.EndDisconnected, protocol.ThreadGoalStatusPaused)
	<-w.Done()
	if err := w.Err(); !errors.Is(err, worker.ErrDisconnected) || !errors.Is(err, worker.ErrStopTimeout) {
		t.Errorf("the worker ended with %v", err)
	}
	next := d.worker()
	goal, err := next.Goal(d.ctx)
	if err != nil || goal == nil || goal.Status != protocol.ThreadGoalStatusPaused || len(next.Recovered()) != 1 {
		t.Errorf("stored: %+v, %v, recovered %+v", goal, err, next.Recovered())
	}
}

// holdWorking has another process own the desk's key and work on an objective, outside
// the sandbox.
func (d *desk) holdWorking(objective string) *exec.Cmd {
	d.Helper()
	cmd := exec.CommandContext(d.ctx, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), holdEnv+"=1", "CHILD_SANDBOX="+string(protocol.SandboxModeDangerFullAccess), "CHILD_OBJECTIVE="+objective,
		"CHILD_STATE="+d.opts.StateDir, "CHILD_DIR="+d.dir, "CHILD_CODEX="+d.opts.Codex.Path, "CHILD_ENV="+strings.Join(d.home.Env(), "\n"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { stdin.Close() })
	if err := cmd.Start(); err != nil {
		d.Fatal(err)
	}
	return cmd
}

func TestTheNextOwnerEndsWhatADeadOneLeftBehind(t *testing.T) {
	t.Parallel()
	command, _, childFile := leaves(t.TempDir())
	gate := codextest.NewGate()
	defer gate.Open()
	d := newDesk(t, codextest.InOrder(
		codextest.Reply{runs(command)},
		codextest.Reply{codextest.Text("It runs."), gate},
	))
	owner := d.holdWorking("leave something")
	d.reached(gate)
	child := d.written(childFile)
	if err := owner.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	if !child.Alive() {
		t.Fatal("the child ended with its owner: nothing is tested")
	}
	w := d.worker()
	if child.Alive() {
		t.Error("what a dead owner left behind goes on")
	}
	if !slices.ContainsFunc(w.Orphans(), func(o worker.Leftover) bool { return o.PID == child.PID }) {
		t.Errorf("the next owner says that it ended %v", w.Orphans())
	}
}

func TestAStopInterruptsTheTurnsOfSubAgents(t *testing.T) {
	t.Parallel()
	gate, parent := codextest.NewGate(), codextest.NewGate()
	defer gate.Open()
	defer parent.Open()
	d := newDesk(t, func(r codextest.Request) codextest.Reply {
		switch _, spawned := r.Output("spawn"); {
		case spawned:
			return codextest.Reply{codextest.Text("It works."), parent}
		case r.Heard("count the stars") && r.Objective() == "":
			return codextest.Reply{codextest.Text("One, two"), gate}
		default:
			return codextest.Reply{codextest.Item([]byte(`{"type":"function_call","id":"item_spawn","call_id":"spawn",` +
				`"namespace":"multi_agent_v1","name":"spawn_agent","arguments":"{\"message\":\"count the stars\"}"}`))}
		}
	})
	w := d.worker()
	op := d.set(w, "have it done").Operation
	d.reached(parent)
	d.reached(gate)
	out, err := w.Stop(d.ctx)
	if err != nil || !out.AtRest() {
		t.Fatalf("stop: %+v, %v", out, err)
	}
	i := slices.IndexFunc(out.Ended, func(o worker.Leftover) bool { return o.Kind == worker.LeftSubAgent })
	if i < 0 || out.Ended[i].Thread == w.Thread() {
		t.Fatalf("the stop says that it ended %v", out.Ended)
	}
	r, err := codex.Call(d.ctx, w.Client(), protocol.ThreadReadMethod, protocol.ThreadReadParams{ThreadID: out.Ended[i].Thread})
	if err != nil {
		t.Fatal(err)
	}
	if _, idle := r.Thread.Status.Arm.(*protocol.ThreadStatusIdle); !idle {
		t.Errorf("after the stop the sub-agent's thread is %T", r.Thread.Status.Arm)
	}
	d.wantEnd(d.wait(op), worker.EndStopped, protocol.ThreadGoalStatusPaused)
}
