package codex

import "io"

type tracer struct{}

func newTracer(w io.Writer, stats *counters) *tracer { return &tracer{} }
func (t *tracer) frame(line []byte, sent bool)       {}
func (t *tracer) close()                             {}
