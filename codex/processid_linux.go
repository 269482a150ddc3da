package codex

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
)

// bootID tells a start time in ticks since boot from the same number after a reboot.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "boot"
	}
	return strings.TrimSpace(string(id))
})

// processStart reads field 22 (starttime) and field 3 (state) of /proc/pid/stat. The second field is the name in
// parentheses, which may hold anything, so the count begins behind its last ')'.
func processStart(pid int) (start string, state processState, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return "", 0, fmt.Errorf("process %d: unexpected /proc stat line", pid)
	}
	switch fields[0][0] {
	case 'Z', 'X':
		state = processZombie
	case 'T':
		state = processStopped
	}
	return bootID() + ":" + string(fields[19]), state, nil
}

func isNoProcess(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}
