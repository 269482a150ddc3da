package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// secondInterrupt is how long after the first interrupt another one is a second
// decision of the person's, and not the same keys bouncing or one signal that came
// by two ways.
const secondInterrupt = 300 * time.Millisecond

// interrupts tells a person who is in a hurry from one end that is announced more
// than once: a logout sends HUP and TERM, a service manager TERM again and again.
type interrupts struct {
	first time.Time // when the first interrupt came; zero: none did
}

// hurry reports whether s, which came at now, asks to end at once: only an
// interrupt does, and only one that is not the first.
func (i *interrupts) hurry(s os.Signal, now time.Time) bool {
	if s != os.Interrupt {
		return false
	}
	if i.first.IsZero() {
		i.first = now
		return false
	}
	return now.Sub(i.first) >= secondInterrupt
}

// notifyEnd sends every signal that asks for the end of a process to signals,
// but those that whoever started it had it ignore: nohup, or a script's job in the
// background.
func notifyEnd(signals chan<- os.Signal) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
}
