package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/goal"
)

// aftermathPatience bounds the readback behind a stop that nobody acknowledged.
const aftermathPatience = 60 * time.Second

// aftermath reads back what a stop without an answer has left and pauses a goal
// that is still active, because that was asked for. The exit code is code where the
// goal was read back and is not active, else exitUnknown: said is why, and what is
// so comes behind it.
func (o *operateOptions) aftermath(ctx context.Context, at site, l *link, said error, code exitCode) (*control.Goal, error) {
	ctx, cancel := context.WithTimeout(ctx, aftermathPatience)
	defer cancel()
	again, err := o.reopen(ctx, at, l)
	if errors.Is(err, errNothingStored) {
		return nil, &exitError{code, fmt.Errorf("%w; there is no goal", said)}
	}
	if err != nil {
		return nil, unsettled(said, err)
	}
	defer again.close()
	g, err := again.pause(ctx)
	switch {
	case err != nil:
		return g, unsettled(said, err)
	case isActive(g):
		return g, &exitError{exitUnknown, fmt.Errorf("%w; the goal is active again, in the hands of another process: codexctl stop", said)}
	}
	return g, &exitError{code, fmt.Errorf("%w; read back: %s", said, goalState(g))}
}

// pause pauses an active goal and returns the goal as it is then. That of an
// owner in another process is its own.
func (l *link) pause(ctx context.Context) (*control.Goal, error) {
	value, err := l.ask(ctx, control.Command{ID: commandID(), Name: control.GoalShow})
	if err != nil || l.own == nil || !isActive(value.Goal) {
		return valueGoal(value), err
	}
	paused, err := l.ask(ctx, control.Command{ID: commandID(), Name: control.GoalPause})
	if err != nil {
		return value.Goal, err
	}
	return paused.Goal, nil
}

func valueGoal(v *control.Value) *control.Goal {
	if v == nil {
		return nil
	}
	return v.Goal
}

func unsettled(said, err error) error {
	return &exitError{exitUnknown, fmt.Errorf("%w; the goal may still be active: codexctl goal pause (%w)", said, err)}
}

// goalState says in words what a goal is.
func goalState(g *control.Goal) string {
	if g == nil {
		return goal.None.Label()
	}
	return "the goal is " + g.Label
}
