package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/codexctl/codexctl/codex/codextest"
)

// patience bounds every wait for a condition in a script; nothing is asserted
// about how long anything takes.
const patience = 120 * time.Second

// troupe is what a test script has going: a scripted model with its gates, and
// processes in the background.
type troupe struct {
	dir   string
	model *codextest.Model
	gates map[string]*codextest.Gate
	cast  map[string]*actor
}

// actor is a process in the background.
type actor struct {
	cmd            *exec.Cmd
	stdout, stderr lockedBuffer
	done           chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// playOf reads a model's part. Each line is a step, and --- begins the next reply:
//
//	say TEXT        a message
//	hold NAME       wait until the script opens the gate
//	run COMMAND     the shell tool
//	escalate CMD    the shell tool, outside the sandbox
//	goal STATUS     the model ends the goal
//	create TEXT     the model makes a goal
//	tokens N        the response cost N tokens
//	error STATUS    an HTTP error
//	limit           the account's usage limit
//	cut             the stream breaks off
//	again           the last reply but this one, for ever
func (t *troupe) playOf(text string) (codextest.Script, error) {
	var replies []codextest.Reply
	reply, again := codextest.Reply{}, false
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "", "#":
		case "---":
			replies, reply = append(replies, reply), codextest.Reply{}
		case "say":
			reply = append(reply, codextest.Text(rest))
		case "hold":
			if t.gates[rest] == nil {
				t.gates[rest] = codextest.NewGate()
			}
			reply = append(reply, t.gates[rest])
		case "run":
			reply = append(reply, codextest.Exec(rest))
		case "escalate":
			reply = append(reply, codextest.ExecEscalated(rest, "it needs to"))
		case "goal":
			reply = append(reply, codextest.UpdateGoal(rest), codextest.Usage{})
		case "create":
			reply = append(reply, codextest.CreateGoal(rest, 0))
		case "tokens":
			n, err := strconv.ParseInt(rest, 10, 64)
			if err != nil {
				return nil, err
			}
			reply = append(reply, codextest.Usage{Input: n})
		case "error":
			status, err := strconv.Atoi(rest)
			if err != nil {
				return nil, err
			}
			reply = append(reply, codextest.HTTPError(status, `{"error":{"message":"scripted failure"}}`))
		case "limit":
			reply = append(reply, codextest.UsageLimitReached())
		case "cut":
			reply = append(reply, codextest.Cut())
		case "again":
			again = true
		default:
			return nil, fmt.Errorf("a model cannot %q", word)
		}
	}
	if again {
		return codextest.InOrder(replies...).Then(codextest.Always(replies[len(replies)-1])), nil
	}
	return codextest.InOrder(append(replies, reply)...), nil
}

func troupeOf(ts *testscript.TestScript) *troupe { return ts.Value("troupe").(*troupe) }

// scriptCommands are what test scripts can do beside testscript's own.
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"model": cmdModel, "reached": cmdReached, "open": cmdOpen, "heard": cmdHeard,
		"exits": cmdExits, "start": cmdStart, "finish": cmdFinish, "signal": cmdSignal,
		"loses": cmdMiddleman, "hostile": cmdHostile, "shows": cmdShows, "until": cmdUntil, "insists": cmdInsists, "swallows": cmdSwallows, "tells": cmdTells, "stuck": cmdStuck, "holds": cmdHolds, "thread": cmdThread, "asked": cmdAsked,
		"follows": cmdFollows,
	}
}

// model FILE [KEY=VALUE …]: a scripted model plays FILE, and Codex is configured for it.
func cmdModel(ts *testscript.TestScript, _ bool, args []string) {
	t := troupeOf(ts)
	t.gates = map[string]*codextest.Gate{}
	script, err := t.playOf(ts.ReadFile(args[0]))
	ts.Check(err)
	if t.model != nil {
		ts.Check(t.model.Close())
	}
	t.model, err = codextest.NewModel(script)
	ts.Check(err)
	settings := map[string]string{}
	for _, s := range args[1:] {
		key, value, _ := strings.Cut(s, "=")
		settings[key] = value
	}
	home, err := codextest.NewHome(t.dir, t.model.URL(), codextest.HomeOptions{Settings: settings})
	ts.Check(err)
	for _, kv := range home.Env() {
		key, value, _ := strings.Cut(kv, "=")
		if key != "PATH" {
			ts.Setenv(key, value)
		}
	}
}

// reached GATE: wait until the model is held there.
func cmdReached(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	gate := troupeOf(ts).gates[args[0]]
	if gate == nil {
		ts.Fatalf("the model has no gate %s", args[0])
	}
	ts.Check(gate.WaitReached(ctx))
}

// open GATE: let the model go on.
func cmdOpen(ts *testscript.TestScript, _ bool, args []string) {
	troupeOf(ts).gates[args[0]].Open()
}

// heard TEXT: the model has been told it.
func cmdHeard(ts *testscript.TestScript, neg bool, args []string) {
	if heard := len(troupeOf(ts).model.Heard(args[0])) > 0; heard == neg {
		ts.Fatalf("the model heard %q: %v", args[0], heard)
	}
}

// asked model|effort VALUE: the last request to the model named it.
func cmdAsked(ts *testscript.TestScript, _ bool, args []string) {
	requests := troupeOf(ts).model.Requests()
	last := requests[len(requests)-1]
	if got := map[string]string{"model": last.Model, "effort": last.Effort}[args[0]]; got != args[1] {
		ts.Fatalf("the last request asked for %s %q, want %q", args[0], got, args[1])
	}
}

// thread VARIABLE TEXT: set it to the id of the thread whose model has heard the text.
func cmdThread(ts *testscript.TestScript, _ bool, args []string) {
	heard := troupeOf(ts).model.Heard(args[1])
	if len(heard) == 0 {
		ts.Fatalf("the model never heard %q", args[1])
	}
	ts.Setenv(args[0], heard[0].Thread)
}

// holds THREAD: have the thread, as another client of Codex does, until the script ends.
func cmdHolds(ts *testscript.TestScript, _ bool, args []string) {
	path := filepath.Join(ts.Getenv("CODEX_HOME"), "thread-writer-locks", args[0]+".lock")
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		ts.Check(err)
		ts.Defer(func() { _ = f.Close() })
		ts.Check(syscall.Flock(int(f.Fd()), syscall.LOCK_EX)) // as soon as the app-server of a dead owner is gone
		mine, err := f.Stat()
		ts.Check(err)
		// 0.160.1 removes the file as it ends: then it is another one that counts.
		if now, err := os.Stat(path); err == nil && os.SameFile(mine, now) {
			return
		}
	}
}

// exits CODE COMMAND …: run it to its end; stdout and stderr as after exec.
func cmdExits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	if got := codeOfExit(err); got != want {
		ts.Fatalf("exit code %d (%v), want %d", got, err, want)
	}
}

func codeOfExit(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		return -1
	}
}

// start NAME COMMAND …: run it in the background.
func cmdStart(ts *testscript.TestScript, _ bool, args []string) {
	startActor(ts, args, func(*exec.Cmd) {})
}

// startActor starts a process in the background once prepare has had it.
func startActor(ts *testscript.TestScript, args []string, prepare func(*exec.Cmd)) {
	a := &actor{done: make(chan struct{})}
	a.cmd = &exec.Cmd{Path: lookPath(ts, args[1]), Args: args[1:], Dir: ts.MkAbs("."), Env: scriptEnv(ts), Stdout: &a.stdout, Stderr: &a.stderr}
	prepare(a.cmd)
	ts.Check(a.cmd.Start())
	troupeOf(ts).cast[args[0]] = a
	ts.Setenv("ACTOR_PID", strconv.Itoa(a.cmd.Process.Pid))
	go func() {
		a.cmd.Wait()
		close(a.done)
	}()
}

// scriptEnv is the script's environment for a process of our own.
func scriptEnv(ts *testscript.TestScript) []string {
	var env []string
	for _, key := range []string{
		"PATH", "HOME", "CODEX_HOME", "CODEX_BIN", "CODEXCTL_STATE", "CODEXCTL_SESSION", "TMPDIR", "NO_COLOR", "TERM",
		"REAL_CODEX", "LOSE", "LOSE_AFTER", "SWALLOW", "SWALLOWED", "PWD", "ACTOR_PID",
	} {
		if v := ts.Getenv(key); v != "" {
			env = append(env, key+"="+v)
		}
	}
	return env
}

// finish NAME CODE: wait for its end; its output is then stdout and stderr.
func cmdFinish(ts *testscript.TestScript, _ bool, args []string) {
	a := troupeOf(ts).cast[args[0]]
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	select {
	case <-a.done:
	case <-time.After(patience):
		ts.Fatalf("%s does not end; so far:\n%s%s", args[0], a.stdout.String(), a.stderr.String())
	}
	fmt.Fprint(ts.Stdout(), a.stdout.String())
	fmt.Fprint(ts.Stderr(), a.stderr.String())
	if got := a.cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("%s ended with %v, want code %d:\n%s%s", args[0], a.cmd.ProcessState, want, a.stdout.String(), a.stderr.String())
	}
}

// shows NAME TEXT: wait until its output has the text.
func cmdShows(ts *testscript.TestScript, _ bool, args []string) {
	a := troupeOf(ts).cast[args[0]]
	eventually(ts, func() (bool, string) {
		out := a.stdout.String() + a.stderr.String()
		return strings.Contains(out, args[1]), out
	})
}

// until TEXT COMMAND …: run it again and again until its standard output has the text.
func cmdUntil(ts *testscript.TestScript, _ bool, args []string) {
	eventually(ts, func() (bool, string) {
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Path = lookPath(ts, args[1])
		cmd.Dir, cmd.Env = ts.MkAbs("."), scriptEnv(ts)
		out, err := cmd.Output()
		return strings.Contains(string(out), args[0]), fmt.Sprintf("%s%v", out, err)
	})
}

func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range strings.Split(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if _, err := os.Stat(dir + "/" + name); err == nil {
			return dir + "/" + name
		}
	}
	return name
}

func eventually(ts *testscript.TestScript, ok func() (bool, string)) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		done, seen := ok()
		if done {
			return
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			ts.Fatalf("it did not come to that; last seen:\n%s", seen)
		}
	}
}

// follows FIRST THEN: the first request to the model that holds FIRST holds THEN behind it.
func cmdFollows(ts *testscript.TestScript, _ bool, args []string) {
	for _, request := range troupeOf(ts).model.Requests() {
		if _, behind, ok := strings.Cut(string(request.Body), args[0]); ok {
			if !strings.Contains(behind, args[1]) {
				ts.Fatalf("the first request with %q has no %q behind it", args[0], args[1])
			}
			return
		}
	}
	ts.Fatalf("no request has %q", args[0])
}
