package main

import (
	"errors"
	"fmt"

	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/goal"
)

// code is the exit code for the way the operation ended.
func (f *follower) code() exitCode {
	code := endCode(f.ended)
	if f.prompt && f.turn != nil {
		code = turnCode(f.turn)
	}
	if code == exitStopped && f.timedOut {
		return exitTimeout
	}
	return code
}

// unsettled reports whether a stop was asked for that nobody has acknowledged, or
// one whose goal is active all the same.
func (f *follower) unsettled() bool {
	switch f.code() {
	case exitStopped, exitTimeout:
		return isActive(f.ended.Goal)
	}
	return f.stopping && f.ended.End == "disconnected"
}

// why says why the operation is not done.
func (f *follower) why() error {
	why := f.ended.Why
	if f.prompt && f.turn != nil && f.turn.Error != nil {
		why = f.turn.Error.Message
	}
	if why == "" {
		why = "not done: " + f.ended.End
	}
	if f.timedOut {
		why = fmt.Sprintf("no end within %s; %s", f.timeout, why)
	}
	if f.ended.End == "disconnected" && !f.stopping && isActive(f.ended.Goal) {
		why += "; the goal is still active: codexctl goal resume goes on with it, codexctl goal pause does not"
	}
	return errors.New(why)
}

func isActive(g *control.Goal) bool { return g != nil && g.State == goal.Active }

func turnCode(t *control.TurnEnded) exitCode {
	switch t.Status {
	case "completed":
		return exitOK
	case "interrupted":
		return exitStopped
	default:
		return exitFailed
	}
}

// endCode is the exit code for the end of an operation.
func endCode(e *control.OperationEnded) exitCode {
	switch e.End {
	case "complete", "done":
		return exitOK
	case "stopped", "interrupted", "stalled", "paused", "cleared":
		return exitStopped
	case "blocked":
		if e.TurnError != nil {
			return exitFailed
		}
		return exitLimited
	case "usageLimited", "budgetLimited":
		return exitLimited
	default:
		return exitFailed
	}
}

// commandError gives a refused command its exit code.
func commandError(err error) error {
	var refusal *control.Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	code := exitFailed
	switch refusal.Code {
	case control.Malformed:
		code = exitUsage
	case control.Busy, control.OwnerFinished, control.ThreadHeld:
		code = exitBusy
	case control.Stopped:
		code = exitStopped
	case control.DeliveryUnknown:
		code = exitUnknown
	}
	return &exitError{code, fmt.Errorf("%w", refusal)}
}
