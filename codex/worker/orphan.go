package worker

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/codexctl/codexctl/codex"
)

// orphanGrace is how long an orphan may take to end by a signal.
const orphanGrace = 2 * time.Second

// orphan is a process that works for one of the threads, as its environment says:
// 0.160.1 puts CODEX_THREAD_ID into that of each command. One that has made a session
// of its own outside the sandbox outlives its terminal and its app-server. They are
// found on Linux only, where a process tells its environment.
type orphan struct {
	Leftover
	id codex.ProcessID
}

func (o leftovers) processes() []orphan {
	threads := make(map[string]bool, len(o.threads))
	for thread := range o.threads {
		threads[thread] = true
	}
	for _, thread := range o.others {
		if thread != "" {
			threads[thread] = true
		}
	}
	return findOrphans(threads, liveOwners(o.state))
}

// liveOwners are the processes that own a session under a state directory.
func liveOwners(state string) map[int]bool {
	owners := map[int]bool{}
	dirs, err := os.ReadDir(filepath.Join(state, workersDir))
	if err != nil {
		return owners
	}
	for _, dir := range dirs {
		if note, err := readNote(filepath.Join(state, workersDir, dir.Name()), ownerFile); err == nil && note.Process.Alive() {
			owners[note.Process.PID] = true
		}
	}
	return owners
}

// Orphans lists the processes that the turns of a session without an owner have left
// running; state is the state directory, whose other owners' processes are left out.
// On other systems than Linux none are found.
func (s Stored) Orphans(state string) (all []Leftover) {
	if s.Owner != (codex.ProcessID{}) {
		return nil
	}
	for _, p := range (leftovers{others: append(s.children, s.Thread), state: state}).processes() {
		all = append(all, p.Leftover)
	}
	return all
}

// endProcesses ends the orphans and returns them. Each is asked to end first. One may
// start another while it is being ended, so they are looked for again.
func (o leftovers) endProcesses(ctx context.Context) (ended []Leftover) {
	for range 3 {
		orphans := o.processes()
		if len(orphans) == 0 {
			break
		}
		for _, p := range orphans {
			ended = append(ended, p.Leftover)
		}
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			if signalAll(ctx, orphans, s) {
				break
			}
		}
	}
	return ended
}

// signalAll reports whether all have ended within the grace.
func signalAll(ctx context.Context, orphans []orphan, s syscall.Signal) bool {
	for _, p := range orphans {
		if p.id.Alive() {
			_ = syscall.Kill(p.id.PID, s)
		}
	}
	deadline := time.NewTimer(orphanGrace)
	defer deadline.Stop()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for alive(orphans) {
		select {
		case <-poll.C:
		case <-deadline.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func alive(orphans []orphan) bool {
	for _, p := range orphans {
		if p.id.Alive() {
			return true
		}
	}
	return false
}
