package main

import (
	"context"
	"runtime"

	"github.com/codexctl/codexctl/codex"
)

const idleClients = 20

// idle compares the process with and without clients that have nothing to do.
func (r *report) idle() error {
	o, err := serverOptions("none", 0, 0)
	if err != nil {
		return err
	}
	first, err := codex.Start(context.Background(), o) // what is set up once for all
	if err != nil {
		return err
	}
	defer first.Close()
	before, goroutines := footprint()
	for range idleClients {
		c, err := codex.Start(context.Background(), o)
		if err != nil {
			return err
		}
		defer c.Close()
	}
	after, all := footprint()
	r.IdleKB = float64(after-before) / idleClients / 1024
	r.IdleGoroutines = float64(all-goroutines) / idleClients
	return nil
}

// footprint is what is in use: heap that is reachable, and stacks.
func footprint() (bytes int64, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()
}
