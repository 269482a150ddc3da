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

func (l *loop) nextAlarm() time.Duration {
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
