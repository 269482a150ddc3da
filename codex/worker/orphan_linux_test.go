package worker

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/codexctl/codexctl/codex"
)

// sleeper is a process that works for a thread, as far as its environment says.
func sleeper(t *testing.T, thread, command string) codex.ProcessID {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "CODEX_THREAD_ID=" + thread}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	})
	ready := make([]byte, 1)
	if _, err := out.Read(ready); err != nil { // it runs the command, with its own environment
		t.Fatal(err)
	}
	id, err := codex.IdentifyProcess(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	return id
}

func TestOrphansAreFoundByTheirThreadAndNeitherOwnersNorStrangersAre(t *testing.T) {
	const wait = "echo; while :; do sleep 1000; done"
	mine := sleeper(t, "thread-mine", wait)
	sleeper(t, "thread-other", wait)
	owner := sleeper(t, "thread-mine", "sleep 1000 & "+wait)
	found := findOrphans(map[string]bool{"thread-mine": true}, map[int]bool{owner.PID: true})
	for _, o := range found {
		// The sleep that its shell waits for is one as well.
		if o.PID != mine.PID && parentOf(o.PID) != mine.PID {
			t.Errorf("found %+v, want what process %d runs and nothing of %d", o, mine.PID, owner.PID)
		}
		if o.Kind != LeftProcess || o.Thread != "thread-mine" || !strings.Contains(o.String(), strconv.Itoa(o.PID)) {
			t.Errorf("found %+v", o)
		}
	}
	if len(found) == 0 {
		t.Error("nothing was found")
	}
}

func TestAnOrphanThatHeedsNoTermIsKilled(t *testing.T) {
	deaf := sleeper(t, "thread-deaf", "trap '' TERM; echo; while :; do sleep 1000; done")
	ended := leftovers{others: []string{"thread-deaf"}, state: t.TempDir()}.endProcesses(t.Context())
	if deaf.Alive() || len(ended) == 0 {
		t.Errorf("it lives on %t, ended %v", deaf.Alive(), ended)
	}
}
