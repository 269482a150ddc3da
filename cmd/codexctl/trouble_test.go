package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/codexctl/codexctl/codex/control"
)

// loses TEXT DURATION: Codex is killed so long after a line with the text, and
// its answer is lost.
func cmdMiddleman(ts *testscript.TestScript, _ bool, args []string) {
	standBetween(ts)
	ts.Setenv("LOSE", args[0])
	ts.Setenv("LOSE_AFTER", args[1])
}

// swallows TEXT: the next line with the text does not reach Codex.
func cmdSwallows(ts *testscript.TestScript, _ bool, args []string) {
	standBetween(ts)
	mark := filepath.Join(troupeOf(ts).dir, "swallowed")
	if err := os.Remove(mark); !os.IsNotExist(err) {
		ts.Check(err)
	}
	ts.Setenv("SWALLOW", args[0])
	ts.Setenv("SWALLOWED", mark)
}

// standBetween puts the middleman, by a name that the script can take away, between
// codexctl and Codex.
func standBetween(ts *testscript.TestScript) {
	if ts.Getenv("REAL_CODEX") != "" {
		return
	}
	ts.Setenv("REAL_CODEX", ts.Getenv("CODEX_BIN"))
	ts.Setenv("CODEX_BIN", ts.MkAbs("between/middleman"))
	ts.Check(os.Mkdir(ts.MkAbs("between"), 0o700))
	ts.Check(os.Symlink(lookPath(ts, "middleman"), ts.Getenv("CODEX_BIN")))
}

var signals = map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP}

// signal NAME SIGNAL: INT, TERM, HUP or KILL.
func cmdSignal(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(troupeOf(ts).cast[args[0]].cmd.Process.Signal(signals[args[1]]))
}

// insists NAME SIGNAL TEXT: send it the signal again and again, as a person would,
// until its output has the text.
func cmdInsists(ts *testscript.TestScript, _ bool, args []string) {
	a := troupeOf(ts).cast[args[0]]
	var last time.Time
	eventually(ts, func() (bool, string) {
		out := a.stdout.String() + a.stderr.String()
		if strings.Contains(out, args[2]) {
			return true, ""
		}
		if time.Since(last) > 2*secondInterrupt {
			last = time.Now()
			ts.Check(a.cmd.Process.Signal(signals[args[1]]))
		}
		return false, out
	})
}

// tells SIGNAL: send it to the owner that status names, process $OWNER_PID.
func cmdTells(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command(lookPath(ts, "codexctl"), "status", "--json")
	cmd.Dir, cmd.Env = ts.MkAbs("."), scriptEnv(ts)
	out, err := cmd.Output()
	ts.Check(err)
	var status control.Snapshot
	ts.Check(json.Unmarshal(out, &status))
	if status.Owner == nil {
		ts.Fatalf("nobody owns it: %s", out)
	}
	ts.Setenv("OWNER_PID", strconv.Itoa(status.Owner.PID))
	ts.Check(syscall.Kill(status.Owner.PID, signals[args[0]]))
}

// stuck out|err|both NAME COMMAND …: start it with a reader that takes nothing: a
// pipe that is full from the beginning.
func cmdStuck(ts *testscript.TestScript, _ bool, args []string) {
	startActor(ts, args[1:], func(cmd *exec.Cmd) {
		if args[0] != "err" {
			cmd.Stdout = fullPipe(ts)
		}
		if args[0] != "out" {
			cmd.Stderr = fullPipe(ts)
		}
	})
}

func fullPipe(ts *testscript.TestScript) *os.File {
	var ends [2]int
	ts.Check(unix.Pipe(ends[:]))
	ts.Check(unix.SetNonblock(ends[1], true))
	for n, err := 1, error(nil); err == nil && n > 0; {
		n, err = unix.Write(ends[1], make([]byte, 512))
	}
	ts.Check(unix.SetNonblock(ends[1], false))
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	reader, writer := os.NewFile(uintptr(ends[0]), "reader"), os.NewFile(uintptr(ends[1]), "writer")
	ts.Defer(func() {
		reader.Close()
		writer.Close()
	})
	return writer
}
