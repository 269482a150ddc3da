package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// readyFD is where a background owner tells whoever started it that it listens,
// or why it does not.
const readyFD = 3

// backgroundIdle is how long a background owner stays when its work has ended and
// nobody is connected: as long as it lives no other program has the thread, since
// 0.160.1 gives its writer lock back with its process only.
const backgroundIdle = 5 * time.Second

// idleEnv gives a background owner another time than backgroundIdle, such as 15m.
const idleEnv = "CODEXCTL_OWNER_IDLE"

func ownerIdle() (time.Duration, error) {
	text := os.Getenv(idleEnv)
	if text == "" {
		return backgroundIdle, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, usageError("%s is %q; a time such as 30s or 15m is meant", idleEnv, text)
	}
	return d, nil
}

// readiness is the one line on readyFD.
type readiness struct {
	Code  exitCode `json:"code"`
	Error string   `json:"error"`
}

// background starts an owner that outlives this process and waits until it
// listens. It returns errStarting then: the caller connects to it.
func (o *operateOptions) background(ctx context.Context, at site) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start an owner in the background: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start an owner in the background: %w", err)
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: self, Args: append([]string{os.Args[0], "owner"}, o.ownerFlags(at)...),
		Dir: at.identity.Key.Dir, ExtraFiles: []*os.File{w},
		// Its own session: neither the terminal's signals nor its end reach it.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return fmt.Errorf("start an owner in the background: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if err != nil {
		return errors.Join(fmt.Errorf("the owner in the background ended before it was ready"), cmd.Wait())
	}
	var ready readiness
	if err := json.Unmarshal(line, &ready); err != nil {
		return fmt.Errorf("the owner in the background: %w", err)
	}
	switch {
	case ready.Error == "":
		return errors.Join(errStarting, cmd.Process.Release())
	case ready.Code == exitBusy: // somebody else was first: so be it
		_ = cmd.Wait()
		return errStarting
	}
	_ = cmd.Wait()
	return &exitError{ready.Code, errors.New(ready.Error)}
}

// ownerFlags make the background owner own the same site in the same way.
func (o *operateOptions) ownerFlags(at site) []string {
	key := at.identity.Key
	flags := []string{"--cd=" + key.Dir, "--project=" + key.Project, "--session=" + key.Session}
	add := func(name, value string) {
		if value != "" {
			flags = append(flags, "--"+name+"="+value)
		}
	}
	add("thread", o.key.thread)
	add("sandbox", o.codex.sandbox)
	add("approval-policy", o.codex.approval)
	add("model", o.codex.model)
	add("effort", o.codex.effort)
	add("profile", o.codex.profile)
	add("trace", o.codex.trace)
	add("thread-dir", o.codex.dir)
	for _, c := range o.codex.config {
		add("config", c)
	}
	return flags
}

// newBackgroundOwner is the command that background starts.
func newBackgroundOwner(s streams) *cobra.Command {
	o := &operateOptions{streams: s}
	cmd := &cobra.Command{
		Use:    "owner",
		Short:  "Own a session in the background",
		Hidden: true,
		Args:   noArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return runOwner(cmd.Context(), o) },
	}
	o.key.register(cmd.Flags())
	o.codex.register(cmd.Flags())
	return cmd
}

func runOwner(ctx context.Context, o *operateOptions) (err error) {
	var own *owner
	keep, err := ownerIdle()
	if err == nil {
		own, err = openOwner(ctx, o)
	}
	if tellErr := tellReady(err); tellErr != nil {
		err = errors.Join(err, tellErr)
	}
	if err != nil {
		if own != nil {
			err = errors.Join(err, own.close())
		}
		return err
	}
	defer func() { err = errors.Join(err, own.close()) }()
	signals := make(chan os.Signal, 1)
	notifyEnd(signals)
	defer signal.Stop(signals)
	idle := time.NewTimer(keep)
	defer idle.Stop()
	for {
		select {
		case <-own.controller.Ending():
			return nil
		case <-own.worker.Done():
			return own.worker.Err()
		case <-signals:
			return nil
		case <-idle.C:
			quiet := own.controller.Quiet()
			if quiet >= keep && own.controller.Retire() {
				return nil
			}
			if quiet == 0 {
				idle.Reset(min(keep, time.Second)) // its end is to be seen when it comes
			} else {
				idle.Reset(max(keep-quiet, 10*time.Millisecond))
			}
		}
	}
}

func openOwner(ctx context.Context, o *operateOptions) (*owner, error) {
	at, err := newSite(o.streams, o.key)
	if err != nil {
		return nil, err
	}
	own, err := becomeOwner(ctx, at, o.key.thread, o.codex, true, &desk{})
	if err != nil {
		return nil, startError(err)
	}
	return own, nil
}

// tellReady writes the line that background waits for.
func tellReady(err error) error {
	f := os.NewFile(readyFD, "ready")
	if f == nil {
		return errors.New("owner is started by codexctl itself, with --detach")
	}
	var r readiness
	if err != nil {
		r = readiness{Code: codeOf(err), Error: oneLine(err)}
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
