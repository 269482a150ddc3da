package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
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
	for i, moment := range moments {
		told := map[worker.Verdict]int{}
		for range *kills {
			gate := codextest.NewGate()
			d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Working"), gate}))
			d.dieAt(i)
			next := d.worker()
			goal, err := next.Goal(d.ctx)
			if err != nil || goal == nil {
				t.Fatalf("%s: read back: %+v, %v", moment.name, goal, err)
			}
			landed := goal.Objective == "the new objective"
			switch recovered := next.Recovered(); {
			case i == len(moments)-1:
				if len(recovered) != 0 || !landed {
					t.Errorf("%s: recovered %+v, landed %t", moment.name, recovered, landed)
				}
				told["nothing open"]++
			case len(recovered) != 1:
				t.Errorf("%s: recovered %+v", moment.name, recovered)
			default:
				if got := recovered[0].Verdict; got == worker.Undetermined || (got == worker.Delivered) != landed {
					t.Errorf("%s: verdict %s, landed %t", moment.name, got, landed)
				}
				if moment.sure && !landed || i == 0 && landed {
					t.Errorf("%s: landed %t", moment.name, landed)
				}
				told[recovered[0].Verdict]++
			}
			gate.Open()
		}
		row(t, "kill -9 of our process: "+moment.name, *kills, fmt.Sprint(told))
	}
}

// dieAt runs this test binary as the owner of the desk's key until it kills itself.
func (d *desk) dieAt(moment int) {
	d.Helper()
	cmd := exec.CommandContext(d.ctx, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childEnv, moment),
		"CHILD_STATE="+d.opts.StateDir, "CHILD_DIR="+d.dir, "CHILD_CODEX="+d.opts.Codex.Path, "CHILD_ENV="+strings.Join(d.home.Env(), "\n"))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		d.Fatalf("the child did not kill itself: %v\n%s", err, out)
	}
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
	for _, objective := range []string{"the old objective", "the new objective"} {
		if _, err := w.SetGoal(ctx, worker.GoalSpec{Objective: objective}); err != nil {
			return err
		}
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
	cmd := exec.Command(path, "app-server")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout = inR, outW
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, _ = inR.Close(), outW.Close()
	id, err := codex.IdentifyProcess(cmd.Process.Pid)
	m := &mortal{cmd: cmd, in: inW, out: outR, id: id, done: make(chan struct{}), moment: moment}
	go func() { _ = cmd.Wait(); close(m.done) }()
	return m, err
}

var newObjective = []byte(`"the new objective"`)

func (m *mortal) Write(p []byte) (int, error) {
	final := bytes.Contains(p, newObjective)
	if final && m.moment == "0" {
		die()
	}
	n, err := m.in.Write(p)
	if final && m.moment == "1" {
		die()
	}
	return n, err
}

func (m *mortal) Read(p []byte) (int, error) {
	n, err := m.out.Read(p)
	for line := range bytes.Lines(p[:n]) {
		if m.moment == "2" && bytes.Contains(line, newObjective) && bytes.Contains(line, []byte(`"result"`)) {
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
