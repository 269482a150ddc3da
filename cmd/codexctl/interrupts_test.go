package main

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func TestOnlyASecondInterruptHurries(t *testing.T) {
	type arrival struct {
		signal os.Signal
		after  time.Duration // since the first
	}
	for name, row := range map[string]struct {
		arrivals []arrival
		hurry    bool // the last one does
	}{
		"one interrupt":                    {[]arrival{{os.Interrupt, 0}}, false},
		"two interrupts at once":           {[]arrival{{os.Interrupt, 0}, {os.Interrupt, secondInterrupt - 1}}, false},
		"two interrupts":                   {[]arrival{{os.Interrupt, 0}, {os.Interrupt, secondInterrupt}}, true},
		"three interrupts":                 {[]arrival{{os.Interrupt, 0}, {os.Interrupt, 1}, {os.Interrupt, secondInterrupt}}, true},
		"a logout":                         {[]arrival{{syscall.SIGTERM, 0}, {syscall.SIGHUP, time.Second}}, false},
		"a logout from its other end":      {[]arrival{{syscall.SIGHUP, 0}, {syscall.SIGHUP, time.Hour}}, false},
		"a patient service manager":        {[]arrival{{syscall.SIGTERM, 0}, {syscall.SIGTERM, time.Hour}}, false},
		"a hangup behind an interrupt":     {[]arrival{{os.Interrupt, 0}, {syscall.SIGHUP, time.Hour}}, false},
		"a first interrupt behind a TERM":  {[]arrival{{syscall.SIGTERM, 0}, {os.Interrupt, time.Hour}}, false},
		"a second interrupt behind a TERM": {[]arrival{{syscall.SIGTERM, 0}, {os.Interrupt, 0}, {os.Interrupt, time.Second}}, true},
	} {
		var i interrupts
		began := time.Now()
		var got bool
		for _, a := range row.arrivals {
			got = i.hurry(a.signal, began.Add(a.after))
		}
		if got != row.hurry {
			t.Errorf("%s: hurry is %v, want %v", name, got, row.hurry)
		}
	}
}
