package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

// How long a process whose work is over waits for a reader that takes nothing: for
// one that was told to end, and for any other.
const (
	briefPatience = 2 * time.Second
	lastPatience  = 60 * time.Second
)

// outlet is a stream to write to. A command that has to heed signals and deadlines
// while it writes releases it; then writing never waits for the reader.
type outlet struct {
	w   io.Writer
	box *outbox // nil: not released
}

// Write writes text, or hands it to the writer's goroutine: then the error is that
// of an earlier write.
func (o *outlet) Write(text []byte) (int, error) {
	if o.box == nil {
		return o.w.Write(text)
	}
	_, err := o.box.add(o.w, text, roomForAll)
	return len(text), err
}

// offer writes text for which there is room, see outbox.
func (o *outlet) offer(text []byte, room int) (taken bool, err error) {
	if o.box == nil {
		_, err := o.w.Write(text)
		return err == nil, err
	}
	return o.box.add(o.w, text, room)
}

// behind reports whether something waits for the reader.
func (o *outlet) behind() bool {
	if o.box == nil {
		return false
	}
	bytes, _ := o.box.waiting()
	return bytes > 0
}

// release lets both streams be written by goroutines of their own: by one where
// they are the same file, so that its lines keep their order.
func (s streams) release() {
	if s.out.box != nil {
		return
	}
	s.out.box = newOutbox()
	if s.err.box = s.out.box; !sameFile(s.out.w, s.err.w) {
		s.err.box = newOutbox()
	}
}

// finish waits until what was written is read, for a time, and gives the exit code:
// output that was lost is a failure of what went well, unless whoever reads it told
// the process to end.
func (s streams) finish(code exitCode) exitCode {
	if s.out.box == nil {
		return code
	}
	patience := s.out.box.patience
	switch code {
	case exitTimeout, exitStopped, exitUnknown:
		patience = briefPatience
	}
	signals, interrupted := make(chan os.Signal, 1), make(chan struct{})
	notifyEnd(signals)
	go func() {
		<-signals // for as long as the process lives, which is not for long
		close(interrupted)
	}()
	defer signal.Stop(signals)
	err := s.out.box.flush(patience, interrupted)
	if err != nil && code == exitOK && patience == lastPatience {
		code = exitFailed
	}
	if s.err.box == s.out.box {
		return code
	}
	if err != nil {
		fmt.Fprintf(s.err, "codexctl: %s\n", oneLine(err))
	}
	_ = s.err.box.flush(min(patience, briefPatience), interrupted)
	return code
}

// hurry says that the process was told to end: its readers get little time.
func (s streams) hurry() { s.out.box.patience = briefPatience }

func sameFile(a, b io.Writer) bool {
	f, isFile := a.(*os.File)
	g, isAnother := b.(*os.File)
	if !isFile || !isAnother {
		return a == b
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	other, err := g.Stat()
	return err == nil && os.SameFile(info, other)
}
