package worker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// HeldError says that another client of Codex, such as its terminal interface, has
// the native thread loaded: Codex lets one process at a time run turns on it.
// Nothing was written. It is [ErrThreadHeld].
type HeldError struct {
	Thread string
	PID    int   // the app-server or client that has it; 0 is not known
	Err    error // Codex's own refusal, where it was asked; nil else
}

func (e *HeldError) Error() string {
	by := ""
	if e.PID != 0 {
		by = fmt.Sprintf(" (process %d)", e.PID)
	}
	return fmt.Sprintf("another client of Codex%s has thread %s; end it there, then try again", by, e.Thread)
}

// Is makes errors.Is(err, ErrThreadHeld) true.
func (e *HeldError) Is(target error) bool { return target == lifecycle.ErrThreadHeld }

// Unwrap returns Codex's own refusal.
func (e *HeldError) Unwrap() error { return e.Err }

// heldElsewhere looks whether another process has the worker's thread, which the
// worker's own app-server has not loaded. Nil is nobody, as far as can be known.
func (l *loop) heldElsewhere() error {
	pid, held := writerOf(l.client.Server().CodexHome, l.thread)
	if !held {
		return nil
	}
	return &HeldError{Thread: l.thread, PID: pid}
}

// refusedLoad is why the thread could not be loaded.
func (l *loop) refusedLoad(err error) error {
	var refused *codex.RPCError
	// 0.160.1 uses one code for every refusal, so only the message tells.
	if errors.As(err, &refused) && strings.Contains(refused.Message, "already has an active writer") {
		pid, _ := writerOf(l.client.Server().CodexHome, l.thread)
		return &HeldError{Thread: l.thread, PID: pid, Err: err}
	}
	return fmt.Errorf("resume thread %s: %w", l.thread, err)
}

// writerOf looks who may write to a thread: 0.160.1 keeps a flock on a file of the
// thread's from its loading to the end of its process. The lock is tried and given
// back at once, shared, so that two who look do not see each other. A file that is
// not there, or cannot be read, is nobody's.
func writerOf(home, thread string) (pid int, held bool) {
	if home == "" || thread == "" || thread != filepath.Base(thread) {
		return 0, false
	}
	f, err := os.Open(filepath.Join(home, "thread-writer-locks", thread+".lock"))
	if err != nil {
		return 0, false
	}
	defer f.Close() // which gives the lock back
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return 0, false
	}
	return lockHolder(f), true
}

// lockHolder finds the process with a flock on the file in Linux's own list; 0
// where there is none, or not one of this namespace.
func lockHolder(f *os.File) int {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	list, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	inode := ":" + strconv.FormatUint(stat.Ino, 10)
	for line := range bytes.Lines(list) {
		// 1: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF
		fields := strings.Fields(string(line))
		if len(fields) < 6 || fields[1] != "FLOCK" || !strings.HasSuffix(fields[5], inode) {
			continue
		}
		if pid, err := strconv.Atoi(fields[4]); err == nil && pid > 0 && hasOpen(pid, info) {
			return pid
		}
	}
	return 0
}

// hasOpen reports whether a process has the file open: an inode's number alone is
// one of many devices.
func hasOpen(pid int, file os.FileInfo) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if other, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && os.SameFile(file, other) {
			return true
		}
	}
	return false
}
