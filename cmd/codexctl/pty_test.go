package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/codexctl/codexctl/codex/codextest"
)

// seat is a person at a terminal: codexctl on a pty, with a real Codex and a
// scripted model behind it.
type seat struct {
	*testing.T
	cmd    *exec.Cmd
	tty    *os.File
	screen *screen
	read   chan struct{} // the pty has ended
}

func sit(t *testing.T, columns int, script codextest.Script, o codextest.HomeOptions, env []string, args ...string) *seat {
	t.Helper()
	model := codextest.StartModel(t, script)
	home := codextest.TempHome(t, model, o)
	s := &seat{T: t, screen: newScreen(columns), read: make(chan struct{})}
	s.cmd = &exec.Cmd{
		Path: os.Args[0], Args: append([]string{"codexctl"}, args...), Dir: home.Work,
		Env: append(home.Env(), append(env, "TERM=xterm-256color", "CODEX_BIN="+codextest.Binary(t), "CODEXCTL_STATE="+filepath.Join(t.TempDir(), "state"))...),
	}
	tty, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: uint16(columns)})
	if err != nil {
		t.Fatal(err)
	}
	s.tty = tty
	go func() {
		defer close(s.read)
		io.Copy(s.screen, tty) // ends with an error when the other end is gone
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.read
		_ = tty.Close()
	})
	return s
}

// sees waits until all texts stand on the screen.
func (s *seat) sees(texts ...string) {
	s.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		missing := ""
		now := s.screen.text()
		for _, text := range texts {
			if !strings.Contains(now, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			s.Fatalf("%q never stood on the screen; now it shows:\n%s", missing, now)
		}
	}
}

func (s *seat) types(text string) {
	s.Helper()
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.Fatal(err)
	}
}

// ends waits for the process and returns its exit code.
func (s *seat) ends() exitCode {
	s.Helper()
	<-s.read
	_ = s.cmd.Wait()
	return exitCode(s.cmd.ProcessState.ExitCode())
}

func working(gate *codextest.Gate) codextest.Script {
	return codextest.InOrder(
		codextest.Reply{codextest.Text("I look around."), gate, codextest.Usage{Input: 5000}},
		codextest.Reply{codextest.UpdateGoal("complete"), codextest.Usage{}},
		codextest.Reply{codextest.Text("All is well.")},
	)
}

func TestLiveViewIsCalmAndFitsTheTerminal(t *testing.T) {
	t.Parallel()
	const objective = "Fix the failing tests in the parser, all of them, and say which ones were wrong"
	for _, columns := range []int{80, 40} {
		gate := codextest.NewGate()
		s := sit(t, columns, working(gate), codextest.HomeOptions{}, nil, "goal", objective, "--budget", "50k")
		s.sees("● active  Fix the failing", "turn    1  writing", "tokens  0 of 50,000  ", "░░░░░", "time    ")
		for line := range strings.Lines(s.screen.text()) {
			if strings.HasPrefix(line, "● active") && !strings.HasSuffix(line, "…\n") {
				t.Errorf("at %d columns the objective was not cut: %q", columns, line)
			}
		}
		if !strings.Contains(s.screen.written(), "\x1b[32m●\x1b[0m") {
			t.Errorf("at %d columns the dot of an active goal is not green", columns)
		}
		gate.Open()
		if code := s.ends(); code != exitOK {
			t.Errorf("at %d columns: exit code %d", columns, code)
		}
		final := s.screen.text()
		if strings.Contains(final, "░") || strings.Count(final, "● complete") != 1 {
			t.Errorf("at %d columns the view was left behind, or the result is not there:\n%s", columns, final)
		}
		for _, kept := range []string{"turn 1 started", "I look around.", "All is well.", "goal complete: Fix"} {
			if !strings.Contains(final, kept) {
				t.Errorf("at %d columns %q is not on the screen any more:\n%s", columns, kept, final)
			}
		}
	}
}

func TestNoColorIsHonoured(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	s := sit(t, 80, working(gate), codextest.HomeOptions{}, []string{"NO_COLOR=1"}, "goal", "Fix it")
	s.sees("● active  Fix it")
	gate.Open()
	if code := s.ends(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if written := s.screen.written(); regexp.MustCompile("\x1b\\[[0-9;]*m").MatchString(written) {
		t.Errorf("colours were written: %q", written)
	}
}

func TestInterruptFromTheKeyboardStopsCleanly(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	s := sit(t, 80, working(gate), codextest.HomeOptions{}, nil, "goal", "Fix it")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := gate.WaitReached(ctx); err != nil {
		t.Fatal(err)
	}
	s.types("\x03")
	if code := s.ends(); code != exitStopped {
		t.Errorf("exit code %d", code)
	}
	s.sees("stopping; once more to end at once", "● paused: Fix it", "codexctl: not done: stopped")
}

// asks is a model that wants to go beyond the sandbox.
func asks() codextest.Script {
	return codextest.InOrder(
		codextest.Reply{codextest.ExecEscalated("touch allowed", "to leave a mark")},
		codextest.Reply{codextest.UpdateGoal("complete"), codextest.Usage{}},
		codextest.Reply{codextest.Text("So be it.")},
	)
}

func TestApprovalIsAskedAtTheTerminalAndNeverAssumed(t *testing.T) {
	t.Parallel()
	onRequest := codextest.HomeOptions{Settings: map[string]string{"approval_policy": `"on-request"`, "sandbox_mode": `"workspace-write"`}}
	for answer, want := range map[string]bool{"y\n": true, "\n": false, "n\n": false, "perhaps\n": false} {
		s := sit(t, 80, asks(), onRequest, nil, "goal", "Leave a mark")
		s.sees("Codex asks to run outside the sandbox:", "(to leave a", "Accept? [y/N]")
		s.types(answer)
		if code := s.ends(); code != exitOK {
			t.Errorf("%q: exit code %d", answer, code)
		}
		_, err := os.Stat(filepath.Join(s.cmd.Dir, "allowed"))
		if ran := err == nil; ran != want {
			t.Errorf("%q: the command ran: %v", answer, ran)
		}
	}
}

func TestSecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	gate := codextest.NewGate()
	s := sit(t, 80, working(gate), codextest.HomeOptions{}, nil, "goal", "Fix it")
	s.sees("● active  Fix it")
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	if code := s.ends(); code != exitStopped {
		t.Errorf("exit code %d", code)
	}
}
