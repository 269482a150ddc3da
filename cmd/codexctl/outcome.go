package main

import (
	"errors"
	"fmt"

	"github.com/codexctl/codexctl/codex/control"
)

// code is the exit code for the way the operation ended.
func (f *follower) code() exitCode {
	code := exitOK
	if f.prompt && f.turn != nil {
		code = turnCode(f.turn)
	} else {
		code = endCode(f.ended)
	}
	if f.timedOut && code != exitOK {
		return exitTimeout
	}
	return code
}

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
	case control.Busy, control.OwnerFinished:
		code = exitBusy
	case control.Stopped:
		code = exitStopped
	case control.DeliveryUnknown:
		code = exitUnknown
	}
	return &exitError{code, fmt.Errorf("%w", refusal)}
}
