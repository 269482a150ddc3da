package codex

import (
	"strconv"
	"strings"
	"syscall"
)

// ProcessID names one process, beyond the life of its pid: the pid may be used again, its start does not come back.
// The zero value names none.
type ProcessID struct {
	PID int `json:"pid"`
	// Start is an opaque text that the operating system's start time of the process is kept in. Two processes that had the
	// same pid, also across a reboot, differ in it.
	Start string `json:"start"`
}

// IdentifyProcess returns the identity of the running process with that pid. It fails when there is none.
func IdentifyProcess(pid int) (ProcessID, error) {
	start, _, err := processStart(pid)
	if err != nil {
		return ProcessID{}, err
	}
	return ProcessID{PID: pid, Start: start}, nil
}

// Alive reports whether the process is still running. A process that has ended but was not waited for by its parent
// (a zombie) is not: it can write nothing more. When the system does not tell, the answer is true.
func (p ProcessID) Alive() bool {
	if p.PID <= 0 {
		return false
	}
	start, state, err := processStart(p.PID)
	if err != nil { // also where /proc is missing or hides what others run
		return !isNoProcess(err) || syscall.Kill(p.PID, 0) != syscall.ESRCH
	}
	return state != processZombie && (p.Start == "" || start == p.Start)
}

// Stopped reports whether the process is suspended, by Ctrl-Z say: it lives and does nothing.
func (p ProcessID) Stopped() bool {
	if p.PID <= 0 {
		return false
	}
	start, state, err := processStart(p.PID)
	return err == nil && state == processStopped && (p.Start == "" || start == p.Start)
}

// processState is what matters of what the system says of a process.
type processState int

const (
	processRuns processState = iota
	processStopped
	processZombie
)

// String is the pid and the start in one word.
func (p ProcessID) String() string { return strings.TrimSuffix(strconv.Itoa(p.PID)+"@"+p.Start, "@") }
