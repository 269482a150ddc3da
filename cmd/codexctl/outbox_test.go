package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex/control"
)

// reader takes what it is given when it is let.
type reader struct {
	gate chan struct{} // closed: it reads
	got  lockedBuffer
	err  error
}

func (r *reader) Write(p []byte) (int, error) {
	<-r.gate
	if r.err != nil {
		return 0, r.err
	}
	return r.got.Write(p)
}

// box is an outbox whose goroutine ends with the test.
func box(t *testing.T, to *reader) (*outlet, *outbox) {
	o := newOutbox()
	t.Cleanup(func() {
		close(o.wake)
	})
	return &outlet{w: to, box: o}, o
}

func TestAReaderThatTakesNothingHoldsNothingUp(t *testing.T) {
	r := &reader{gate: make(chan struct{})}
	out, o := box(t, r)
	show := &jsonShow{out: out, err: out}
	run := strings.Repeat("x", 1000)
	events := 0
	tell := func(p control.Payload) {
		t.Helper()
		events++
		if err := show.event(control.Event{Seq: uint64(events), Run: run, Payload: p}); err != nil {
			t.Fatal(err)
		}
	}
	tell(&control.TurnStarted{Turn: "1"})
	for range 2000 {
		tell(&control.TextDelta{Turn: "1", Text: "…"})
	}
	tell(&control.TurnEnded{Turn: "1", Status: "completed"})
	if waiting, _ := o.waiting(); waiting > roomForPieces+8<<10 {
		t.Errorf("%d bytes wait for the reader", waiting)
	}
	if err := o.flush(time.Nanosecond, nil); err == nil {
		t.Error("the flush says that all was read")
	}
	close(r.gate)
	if err := o.flush(patience, nil); err != nil { // there is room again
		t.Fatal(err)
	}
	for range 3 {
		tell(&control.TextDelta{Turn: "2", Text: "…"})
	}
	tell(&control.StreamClosed{})
	if err := o.flush(patience, nil); err != nil {
		t.Fatal(err)
	}
	var names []string
	var told, dropped uint64
	for line := range strings.Lines(r.got.String()) {
		e, err := control.ParseEvent([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		told++
		if e.Seq != told {
			t.Fatalf("line %d has number %d", told, e.Seq)
		}
		switch p := e.Payload.(type) {
		case *control.Lagged:
			dropped += p.Dropped
			told--
			names = append(names, "lagged")
			told++
		case *control.StreamClosed:
			if p.Events != told-1 {
				t.Errorf("%d lines came before the last, it says %d", told-1, p.Events)
			}
			names = append(names, "closed")
		case *control.TextDelta:
		default:
			names = append(names, p.EventName())
		}
	}
	if want := "turn.started lagged turn.ended closed"; strings.Join(names, " ") != want || dropped == 0 {
		t.Errorf("the reader got %v with %d left out, want %s", names, dropped, want)
	}
	if told-1+dropped != uint64(events) { // the line that tells of them is one more
		t.Errorf("%d events came; %d lines and %d left out", events, told, dropped)
	}
}

func TestAReaderThatIsGivenUp(t *testing.T) {
	r := &reader{gate: make(chan struct{})}
	out, o := box(t, r)
	piece := bytes.Repeat([]byte("x"), 1<<20)
	var err error
	for range 2 * roomForAll >> 20 {
		if _, err = out.Write(piece); err != nil {
			break
		}
	}
	if !errors.Is(err, errUnread) {
		t.Errorf("after %d bytes: %v", 2*roomForAll, err)
	}
	if waiting, _ := o.waiting(); waiting > roomForAll {
		t.Errorf("%d bytes wait for the reader", waiting)
	}
	close(r.gate)
}

func TestAnErrorOfTheReaderComesWithTheNextWrite(t *testing.T) {
	r := &reader{gate: make(chan struct{}), err: io.ErrClosedPipe}
	close(r.gate)
	out, o := box(t, r)
	if _, err := out.Write([]byte("lost")); err != nil {
		t.Fatal(err)
	}
	if err := o.flush(patience, nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("flush: %v", err)
	}
	if err := broken(out); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the next write: %v", err)
	}
}
