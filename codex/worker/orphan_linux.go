package worker

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/codexctl/codexctl/codex"
)

// findOrphans lists the processes of this user that work for one of the threads. Left
// out are this process, its ancestors, and owners with all that they have started: one
// that was begun by a command of the thread carries the thread's id too.
func findOrphans(threads map[string]bool, owners map[int]bool) []orphan {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	parents := map[int]int{}
	threadOf := map[int]string{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			continue
		}
		parents[pid] = parentOf(pid)
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Getuid() {
			continue
		}
		if thread := threadOfProcess(pid); threads[thread] {
			threadOf[pid] = thread
		}
	}
	for pid := os.Getpid(); pid > 0; pid = parents[pid] {
		delete(threadOf, pid)
	}
	var found []orphan
	for pid, thread := range threadOf {
		if under(owners, parents, pid) {
			continue
		}
		id, err := codex.IdentifyProcess(pid)
		if err != nil || !id.Alive() {
			continue
		}
		found = append(found, orphan{Leftover{Kind: LeftProcess, Thread: thread, Name: commandLine(pid), PID: pid}, id})
	}
	return found
}

// under reports whether the process is one of the owners, or was started by one.
func under(owners map[int]bool, parents map[int]int, pid int) bool {
	for ; pid > 1; pid = parents[pid] {
		if owners[pid] && pid != os.Getpid() {
			return true
		}
	}
	return false
}

// parentOf reads field 4 of /proc/pid/stat; 0 when the process is gone. The second
// field is the name in parentheses, which may hold anything.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// threadOfProcess is the thread that a process was started for; "" if it was for none,
// or does not tell.
func threadOfProcess(pid int) string {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return ""
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if thread, ok := bytes.CutPrefix(entry, []byte("CODEX_THREAD_ID=")); ok {
			return string(thread)
		}
	}
	return ""
}

func commandLine(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
}
