package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/worker"
)

// moments are when our own process dies, in the order of a mutation's life.
var moments = []struct {
	name string
	sure bool // the app-server has certainly answered by then
}{
	{"intent journalled, not written", false},
	{"written", false},
	{"reply read, not journalled", true},
	{"outcome journalled", true},
}

const childEnv = "CODEXCTL_TEST_CHILD" // the moment to die at

// Our own process is killed at each step of a mutation, and the app-server is left
// to end by itself, which takes it a while: what is in its pipe may still land.
func TestOurOwnDeathAtAnyStepLeavesAnOutcomeThatReadbackConfirms(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for i, moment := range moments {
		s.repeat(t, "our process, "+moment.name, func(d *desk) string {
			sent := d.dieAt(i)
			tap := &wiretap{}
			d.opts.Codex.Trace = tap
			d.open()
			found, landed := s.recovered(d)
			sent += tap.count("thread/goal/set", newObjective)
			if want := min(i, 1); sent != want {
				d.Errorf("the change was written %d times, want %d", sent, want)
			}
			if moment.sure && !landed || i == 0 && landed {
				d.Errorf("landed %t", landed)
			}
			if i < len(moments)-1 {
				return d.confirm(found, landed)
			}
			if len(found) != 0 {
				d.Errorf("recovered %+v, and its outcome was journalled", found)
			}
			return "acknowledged"
		})
	}
}

// dieAt runs this test binary as the owner of the desk's key until it kills itself,
// and returns how often the app-server was given the change.
func (d *desk) dieAt(moment int) (sent int) {
	d.Helper()
	wire := filepath.Join(d.state, "wire")
	cmd := exec.CommandContext(d.ctx, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childEnv, moment), "CHILD_WIRE="+wire,
		"CHILD_STATE="+d.opts.StateDir, "CHILD_DIR="+d.dir, "CHILD_CODEX="+d.opts.Codex.Path, "CHILD_ENV="+strings.Join(d.home.Env(), "\n"))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		d.Fatalf("the child did not kill itself: %v\n%s", err, out)
	}
	written, err := os.ReadFile(wire)
	if err != nil {
		d.Fatal(err)
	}
	for line := range bytes.Lines(written) {
		if bytes.Contains(line, quotedObjective) {
			sent++
		}
	}
	return sent
}

// child is the owner that dies.
func child(moment string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	m, err := worker.NewManager(worker.Options{
		StateDir: os.Getenv("CHILD_STATE"),
		Codex: codex.Options{
			Env: strings.Split(os.Getenv("CHILD_ENV"), "\n"),
			Dial: func(context.Context) (codex.Transport, error) {
				return startMortal(os.Getenv("CHILD_CODEX"), strings.Split(os.Getenv("CHILD_ENV"), "\n"), moment)
			},
		},
	})
	if err != nil {
		return err
	}
	w, err := m.Worker(ctx, worker.Key{Project: "p", Session: "s", Dir: os.Getenv("CHILD_DIR")})
	if err != nil {
		return err
	}
	for _, objective := range []string{oldObjective, newObjective} {
		set, err := w.SetGoal(ctx, worker.GoalSpec{Objective: objective})
		if err != nil {
			return err
		}
		// In the same second nothing could be told by its time.
		tick := time.NewTicker(20 * time.Millisecond)
		for set.Goal != nil && time.Now().Unix() <= set.Goal.UpdatedAt {
			<-tick.C
		}
		tick.Stop()
	}
	die() // the outcome is journalled before anybody is told
	return nil
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// mortal is an app-server whose client dies at a moment of its own choice.
type mortal struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	id     codex.ProcessID
	wire   *os.File // keeps what was written to it
	done   chan struct{}
	moment string
}

func startMortal(path string, env []string, moment string) (*mortal, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	wire, err := os.OpenFile(os.Getenv("CHILD_WIRE"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "app-server")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout = inR, outW
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, _ = inR.Close(), outW.Close()
	id, err := codex.IdentifyProcess(cmd.Process.Pid)
	m := &mortal{cmd: cmd, in: inW, out: outR, id: id, wire: wire, done: make(chan struct{}), moment: moment}
	go func() { _ = cmd.Wait(); close(m.done) }()
	return m, err
}

var quotedObjective = []byte(`"` + newObjective + `"`)

func (m *mortal) Write(p []byte) (int, error) {
	final := bytes.Contains(p, quotedObjective)
	if final && m.moment == "0" {
		die()
	}
	n, err := m.in.Write(p)
	if _, kept := m.wire.Write(p[:n]); kept != nil {
		return n, kept
	}
	if final && m.moment == "1" {
		die()
	}
	return n, err
}

func (m *mortal) Read(p []byte) (int, error) {
	n, err := m.out.Read(p)
	for line := range bytes.Lines(p[:n]) {
		if m.moment == "2" && bytes.Contains(line, quotedObjective) && bytes.Contains(line, []byte(`"result"`)) {
			die()
		}
	}
	return n, err
}

func (m *mortal) SetWriteDeadline(t time.Time) error { return m.in.SetWriteDeadline(t) }
func (m *mortal) CloseWrite() error                  { return m.in.Close() }
func (m *mortal) CloseRead() error                   { return m.out.Close() }
func (m *mortal) Terminate() error                   { return m.cmd.Process.Signal(syscall.SIGTERM) }
func (m *mortal) Kill() error                        { return m.cmd.Process.Kill() }
func (m *mortal) Done() <-chan struct{}              { return m.done }
func (m *mortal) Err() error                         { return nil }
func (m *mortal) Process() codex.ProcessID           { return m.id }

var _ io.ReadWriter = (*mortal)(nil)
