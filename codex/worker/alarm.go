package worker

import (
	"time"

	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

func (l *loop) timeOf(t lifecycle.Timer) time.Duration {
	switch t {
	case lifecycle.TimerStall:
		return l.opts.StallTimeout
	case lifecycle.TimerTurn:
		return stopTurn
	case lifecycle.TimerGrace:
		return stopGrace
	default:
		return stopAnswer
	}
}

// A timer that is due is looked at so often while the wire still has something to
// say. The looks are counted and not timed: see quiet.
const (
	alarmLooks = 200
	lookAgain  = 5 * time.Millisecond
)

// quiet reports whether everything that Codex has written so far was heard. When
// this process was suspended over a timer the answers that it waits for are in
// the pipe, and come first.
func (l *loop) quiet(pumped <-chan inbound) bool {
	return !l.client.Pending() && l.wire.Idle() && len(pumped) == 0 // in the order in which they pass events on
}

// alarm fires the timers that are due, once the wire is quiet or does not become
// so.
func (l *loop) alarm(pumped <-chan inbound) {
	if !l.quiet(pumped) && l.looks < alarmLooks {
		l.looks++
		return
	}
	l.looks = 0
	l.ring()
}

func (l *loop) nextAlarm() time.Duration {
	if l.looks > 0 {
		return lookAgain
	}
	next := time.Hour
	for _, at := range l.timers {
		next = min(next, max(time.Until(at), 0))
	}
	return next
}

// ring fires the timers that are due.
func (l *loop) ring() {
	now := time.Now()
	for _, t := range []lifecycle.Timer{lifecycle.TimerAnswer, lifecycle.TimerTurn, lifecycle.TimerGrace, lifecycle.TimerStall} {
		if at, ok := l.timers[t]; ok && !at.After(now) {
			delete(l.timers, t)
			l.step(lifecycle.TimerFired{Timer: t})
		}
	}
}
