package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
)

const bigVariable = "BENCHMARK_BIG"

// bigLine reads one long history in a process of its own and compares its peak memory with the line.
func (r *report) bigLine() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), bigVariable+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	_, err = fmt.Sscan(strings.TrimSpace(string(out)), &r.BigLineRatio, &r.BigLineMs)
	return err
}

// readBig is that process.
func readBig() error {
	o, err := serverOptions("none", 0, 0)
	if err != nil {
		return err
	}
	c, err := codex.Start(context.Background(), o)
	if err != nil {
		return err
	}
	defer c.Close()
	before := peak()
	began := time.Now()
	read, err := codex.Call(context.Background(), c, protocol.ThreadReadMethod, protocol.ThreadReadParams{ThreadID: "T"})
	if err != nil {
		return err
	}
	took := time.Since(began)
	size := 0
	for _, item := range read.Thread.Turns[0].Items {
		size += len(item.Arm.(*protocol.ThreadItemAgentMessage).Text)
	}
	if size < bigLine*9/10 {
		return fmt.Errorf("only %d bytes of text arrived", size)
	}
	fmt.Println(float64(peak()-before)/bigLine, took.Milliseconds())
	return nil
}

// peak is the most memory that the process has had, in bytes.
func peak() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
