package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// middleman stands between codexctl and the real Codex, as CODEX_BIN, and loses
// a reply: once a line that holds $LOSE has been passed on nothing comes back any
// more, and $LOSE_AFTER later Codex is killed. The first line that holds $SWALLOW
// is not passed on at all: the file $SWALLOWED says that it came.
func middleman() {
	cmd := exec.Command(os.Getenv("REAL_CODEX"), os.Args[1:]...)
	cmd.Stderr = os.Stderr
	if len(os.Args) < 2 || os.Args[1] != "app-server" {
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		exitLike(cmd.Run())
	}
	var deaf atomic.Bool
	cmd.Stdout = &until{os.Stdout, &deaf}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		exitLike(err)
	}
	lose, after := []byte(os.Getenv("LOSE")), os.Getenv("LOSE_AFTER")
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if text := os.Getenv("SWALLOW"); text != "" && bytes.Contains(line, []byte(text)) && first(os.Getenv("SWALLOWED")) {
			continue
		}
		lost := len(lose) > 0 && bytes.Contains(line, lose)
		if lost {
			deaf.Store(true)
		}
		if _, writeErr := in.Write(line); writeErr != nil || err != nil {
			break
		}
		if lost {
			d, err := time.ParseDuration(after)
			if err != nil {
				exitLike(err)
			}
			<-time.After(d)
			_ = cmd.Process.Kill()
			break
		}
	}
	_ = in.Close()
	exitLike(cmd.Wait())
}

// first makes a file, and reports whether there was none.
func first(path string) bool {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return err == nil && f.Close() == nil
}

// until passes bytes on until it is told not to.
type until struct {
	out  io.Writer
	deaf *atomic.Bool
}

func (u *until) Write(p []byte) (int, error) {
	if u.deaf.Load() {
		return len(p), nil
	}
	return u.out.Write(p)
}

func exitLike(err error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		os.Exit(0)
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		os.Exit(exit.ExitCode())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
