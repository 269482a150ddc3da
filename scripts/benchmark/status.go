package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/worker"
)

// status measures `codexctl status --json` as a script runs it, process start
// and end included, while an owner in another process works on a goal.
func (r *report) status() error {
	dir, err := os.MkdirTemp("", "codexctl-benchmark")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "codexctl")
	build := exec.Command("go", "build", "-C", "../..", "-o", binary, "./cmd/codexctl")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	key := worker.Key{Project: dir, Session: "status", Dir: dir}
	state := filepath.Join(dir, "state")
	end, err := ownedGoal(state, key)
	if err != nil {
		return err
	}
	defer end()
	took := make([]time.Duration, 50)
	for i := range took {
		cmd := exec.Command(binary, "status", "--json", "--cd="+dir, "--project="+dir, "--session=status")
		cmd.Env = append(os.Environ(), "CODEX_HOME=/replay", "CODEXCTL_STATE="+state)
		cmd.Stderr = os.Stderr
		began := time.Now()
		out, err := cmd.Output()
		took[i] = time.Since(began)
		if err != nil {
			return fmt.Errorf("codexctl status: %w", err)
		}
		if i == 0 && len(out) == 0 {
			return fmt.Errorf("codexctl status says nothing")
		}
	}
	r.StatusMs = float64(median(took)) / float64(time.Millisecond)
	return nil
}

// ownedGoal makes this process the owner of a key with an active goal, listening
// on the socket that codexctl looks for.
func ownedGoal(state string, key worker.Key) (end func(), err error) {
	env := []string{"CODEX_HOME=/replay"}
	id, err := worker.Identify(key, env)
	if err != nil {
		return nil, err
	}
	socket := control.SocketPath(state, id.Hash())
	m, err := worker.NewManager(worker.Options{
		StateDir: state,
		Codex:    codex.Options{Env: env, Dial: func(context.Context) (codex.Transport, error) { return newGoalPeer() }},
		Socket:   func(worker.Identity) string { return socket },
	})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	w, err := m.Worker(ctx, key)
	if err != nil {
		return nil, err
	}
	if _, err := w.SetGoal(ctx, worker.GoalSpec{Objective: "be asked about"}); err != nil {
		return nil, err
	}
	c, err := control.New(w, control.Owner{PID: os.Getpid(), Socket: socket})
	if err != nil {
		return nil, err
	}
	l, err := control.Listen(socket)
	if err != nil {
		return nil, err
	}
	go c.Accept(ctx, l)
	return func() {
		_ = l.Close()
		_ = m.Close(ctx)
		c.Close()
	}, nil
}
