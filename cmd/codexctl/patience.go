package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/worker"
)

const (
	// ownerPatience is how long a command waits for an owner that says nothing at
	// all. One that is busy with Codex still answers a status.
	ownerPatience = 60 * time.Second
	// startPatience is how long a command waits for an owner that is just starting,
	// or just ending. Codex itself is given 120 s for its part.
	startPatience = 150 * time.Second
)

// dial connects to the owner. One that takes nobody in does not answer.
func (at site) dial(ctx context.Context) (*control.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, ownerPatience, noAnswer(at.holder(), ""))
	defer cancel()
	conn, err := control.Dial(ctx, at.socket)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return conn, err
}

// holder is the process that has the site, whether it listens or not.
func (at site) holder() worker.Holder {
	return worker.ReadHolder(worker.IdentityDir(at.state, at.identity))
}

// suspended is the error of an owner that was suspended: it will not answer before
// it is let go on, so nothing is sent to it.
func suspended(h worker.Holder) error {
	if !h.Process.Stopped() {
		return nil
	}
	return &exitError{exitBusy, fmt.Errorf("process %d, which owns this session, is stopped (Ctrl-Z): fg, or kill -CONT %d", h.Process.PID, h.Process.PID)}
}

// noAnswer is the error of an owner that does not answer the command sent, "" none.
// One that changes something may still be carried out.
func noAnswer(h worker.Holder, sent control.Name) error {
	why := suspended(h)
	if why == nil {
		why = &exitError{exitBusy, fmt.Errorf("the owner of this session did not answer within %s", ownerPatience)}
	}
	switch sent {
	case "", control.Status, control.GoalShow, control.CommandsList:
		return why
	}
	return &exitError{exitUnknown, fmt.Errorf("%s was sent and may still be carried out; %w", sent, why)}
}

// startWait is the wait for an owner that is just starting.
type startWait struct {
	at    site
	began time.Time
	pause time.Duration
	told  bool
}

func newStartWait(at site) *startWait {
	return &startWait{at: at, began: time.Now(), pause: 30 * time.Millisecond}
}

// next waits until it is worth looking again.
func (w *startWait) next(ctx context.Context) error {
	h := w.at.holder()
	if err := suspended(h); err != nil {
		return err
	}
	if time.Since(w.began) > startIsSlow && !w.told && h.Process != (codex.ProcessID{}) {
		w.told = true
		w.at.tell(fmt.Sprintf("process %d is starting, for %s; waiting for it", h.Process.PID, age(h.Since)))
	}
	if time.Since(w.began) > startPatience {
		who := "the owner of this session"
		if h.Process != (codex.ProcessID{}) {
			who = fmt.Sprintf("process %d, which has this session for %s,", h.Process.PID, age(h.Since))
		}
		return &exitError{exitBusy, fmt.Errorf("%s does not listen yet; codexctl status tells more", who)}
	}
	select {
	case <-time.After(w.pause):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	w.pause = min(2*w.pause, 500*time.Millisecond)
	return nil
}

func age(since time.Time) time.Duration { return time.Since(since).Truncate(time.Second) }

// silence tells an owner that is slow from one that says nothing at all.
type silence struct {
	since time.Time // of what the owner said last
	asked bool      // whether it lives, since then
}

// heard notes that the owner said something.
func (s *silence) heard(now time.Time) { *s = silence{since: now} }

// over reports whether the owner has been silent for too long, and before that, once,
// whether to ask it whether it lives.
func (s *silence) over(now time.Time) (ask, over bool) {
	quiet := now.Sub(s.since)
	if quiet >= ownerPatience/2 && !s.asked {
		s.asked = true
		return true, false
	}
	return false, quiet >= ownerPatience
}

// answered turns the end of a wait for an answer into its error.
func (l *link) answered(ctx context.Context, cmd control.Command, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return noAnswer(l.other, cmd.Name)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return commandError(err)
}
