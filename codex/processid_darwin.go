package codex

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Of sys/proc.h.
const (
	stateStopped = 4 // SSTOP
	stateZombie  = 5 // SZOMB
)

func processStart(pid int) (start string, state processState, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return "", 0, err
	}
	if info.Proc.P_pid != int32(pid) {
		return "", 0, unix.ESRCH
	}
	switch info.Proc.P_stat {
	case stateStopped:
		state = processStopped
	case stateZombie:
		state = processZombie
	}
	t := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", t.Sec, t.Usec), state, nil
}

func isNoProcess(err error) bool {
	// The sysctl answers with an empty record for a pid that is not in use, which x/sys reports as EIO.
	return errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EIO)
}
