package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
)

// exitCode is what the process ends with; topicExitCodes documents them.
type exitCode int

const (
	exitOK      exitCode = 0 // complete or done
	exitFailed  exitCode = 1 // a failed turn, or any other error
	exitUsage   exitCode = 2 // the command line or its input makes no sense
	exitTimeout exitCode = 3 // --timeout ran out
	exitStopped exitCode = 4 // stopped, paused, cleared or interrupted before it was done
	exitWaiting exitCode = 5 // waiting for an answer; kept for questions
	exitBusy    exitCode = 6 // busy, owned by someone else, or the owner finished first
	exitLimited exitCode = 7 // blocked by the model, or at a usage or budget limit
	exitUnknown exitCode = 8 // delivery unknown
	exitNoCodex exitCode = 9 // unsupported or missing Codex
)

// exitError is an error with the code to exit with.
type exitError struct {
	code exitCode
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// silently exits with a code whose reason has been shown already.
func silently(code exitCode) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code, errShown}
}

var errShown = errors.New("")

// codeOf is the exit code for an error of a command.
func codeOf(err error) exitCode {
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return exitFailed
}

// oneLine is an error's text as one line that a terminal can show: parts of it
// may be words of Codex or of its model.
func oneLine(err error) string {
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	return view.Clean(strings.Join(lines, "; "))
}
