package codex

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

const stateZombie = 5 // SZOMB of sys/proc.h

func processStart(pid int) (start string, zombie bool, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return "", false, err
	}
	if info.Proc.P_pid != int32(pid) {
		return "", false, unix.ESRCH
	}
	t := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", t.Sec, t.Usec), info.Proc.P_stat == stateZombie, nil
}

func isNoProcess(err error) bool {
	// The sysctl answers with an empty record for a pid that is not in use, which x/sys reports as EIO.
	return errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EIO)
}
