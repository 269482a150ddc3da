package main

import (
	"runtime"
)

// allocations counts what a delivered agent message delta allocates, in all goroutines.
func (r *report) allocations(s *stream, rounds int) error {
	want := rounds * len(s.deltas.lines)
	c, events, err := subscribed("deltas", rounds, 0)
	if err != nil {
		return err
	}
	defer c.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := take(c, events, want); err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	r.AllocsPerDelta = float64(after.Mallocs-before.Mallocs) / float64(want)
	r.BytesPerDelta = float64(after.TotalAlloc-before.TotalAlloc) / float64(want)
	return nil
}
