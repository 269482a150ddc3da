package worker_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/journal"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

const holdEnv = "CODEXCTL_TEST_HOLD"

// hold is a process that owns a key until its stdin ends or it is killed.
func hold() error {
	m, err := worker.NewManager(worker.Options{
		StateDir: os.Getenv("CHILD_STATE"),
		Socket:   func(worker.Identity) string { return "/run/the.sock" },
		Thread:   worker.ThreadOptions{Sandbox: protocol.SandboxMode(os.Getenv("CHILD_SANDBOX"))},
		Codex:    codex.Options{Path: os.Getenv("CHILD_CODEX"), Env: strings.Split(os.Getenv("CHILD_ENV"), "\n")},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	w, err := m.Worker(ctx, worker.Key{Project: "p", Session: "s", Dir: os.Getenv("CHILD_DIR")})
	if err != nil {
		return err
	}
	if objective := os.Getenv("CHILD_OBJECTIVE"); objective != "" {
		if _, err := w.SetGoal(ctx, worker.GoalSpec{Objective: objective}); err != nil {
			return err
		}
	}
	os.Stdout.WriteString("held\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
	return m.Close(ctx)
}

func TestALiveOwnerIsNamedAndADeadOneTakenOver(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	cmd := exec.CommandContext(d.ctx, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), holdEnv+"=1",
		"CHILD_STATE="+d.opts.StateDir, "CHILD_DIR="+d.dir, "CHILD_CODEX="+d.opts.Codex.Path, "CHILD_ENV="+strings.Join(d.home.Env(), "\n"))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	_, err = d.manager.Worker(d.ctx, d.key())
	var owned *worker.OwnedError
	if !errors.As(err, &owned) || !errors.Is(err, worker.ErrOwned) || owned.Owner.PID != cmd.Process.Pid || owned.Socket != "/run/the.sock" {
		t.Errorf("beside a live owner: %v (%+v)", err, owned)
	}
	id, err := worker.Identify(d.key(), d.opts.Codex.Env)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := worker.ReadStored(worker.IdentityDir(d.opts.StateDir, id))
	if err != nil || stored.Owner.PID != cmd.Process.Pid || stored.Socket != "/run/the.sock" || stored.Thread == "" || stored.Identity != id {
		t.Errorf("what is stored beside it: %+v, %v", stored, err)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	w := d.worker()
	d.wantEnd(d.wait(d.prompt(w, "mine now?")), worker.EndDone, "")
	if err := w.Append(journal.Record{Kind: "note", Data: []byte(`"kept"`)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(d.ctx); err != nil {
		t.Fatal(err)
	}
	if stored, err := worker.ReadStored(worker.IdentityDir(d.opts.StateDir, id)); err != nil || stored.Owner.PID != 0 || stored.Server.PID != 0 {
		t.Errorf("what is stored after an orderly end: %+v, %v", stored, err)
	}
	if kept := d.worker().Records(); len(kept) != 1 || string(kept[0].Data) != `"kept"` {
		t.Errorf("a caller's record: %+v", kept)
	}
}

func TestOneThreadHasOneOwnerEvenUnderTwoKeys(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	w := d.worker()
	d.wait(d.prompt(w, "hello"))
	other := d.key()
	other.Session = "another"
	if _, err := d.manager.Adopt(d.ctx, other, w.Thread()); !errors.Is(err, worker.ErrOwned) {
		t.Errorf("a second owner of the thread: %v", err)
	}
	if err := w.Close(d.ctx); err != nil {
		t.Fatal(err)
	}
	adopted, err := d.manager.Adopt(d.ctx, other, w.Thread())
	if err != nil || adopted.Thread() != w.Thread() {
		t.Fatalf("adopted %v", err)
	}
	d.wantEnd(d.wait(d.prompt(adopted, "go on")), worker.EndDone, "")
}

func TestOneKeyIsOneWorkerForAllWhoAsk(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	const n = 5
	workers := make(chan *worker.Worker, n)
	for range n {
		go func() {
			w, err := d.manager.Worker(d.ctx, d.key())
			if err != nil {
				t.Error(err)
			}
			workers <- w
		}()
	}
	first := <-workers
	for range n - 1 {
		if w := <-workers; w != first {
			t.Error("two workers for one key")
		}
	}
}

func TestStateIsPrivateAndAHostileDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	w := d.worker()
	err := filepath.WalkDir(d.opts.StateDir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(d.ctx); err != nil {
		t.Fatal(err)
	}
	dir := worker.IdentityDir(d.opts.StateDir, w.Identity())
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := d.manager.Worker(d.ctx, d.key()); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a directory anybody can write: %v", err)
	}
}
