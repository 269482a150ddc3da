package control

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// fakeBackend records what it is given and answers as told.
type fakeBackend struct {
	events chan Payload
	answer func(Command) (*Value, error) // nil: ok

	mu  sync.Mutex
	got []string
}

func newFakeBackend() *fakeBackend { return &fakeBackend{events: make(chan Payload)} }

func (f *fakeBackend) run() string { return "run-1" }

func (f *fakeBackend) accept(c Command) func() (*Value, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = append(f.got, c.ID)
	return func() (*Value, error) {
		if f.answer == nil {
			return &Value{Note: c.ID}, nil
		}
		return f.answer(c)
	}
}

func (f *fakeBackend) feed() feed { return fakeFeed{f.events} }

type fakeFeed struct{ events chan Payload }

func (f fakeFeed) Next(ctx context.Context) (Payload, error) {
	select {
	case p, ok := <-f.events:
		if !ok {
			return nil, io.EOF
		}
		return p, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (fakeFeed) Close() {}

// serveTo serves b on a socket and returns the caller's end and the wait for the
// end of serve.
func serveTo(t *testing.T, b backend) (net.Conn, func() error) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := socket(t, fds[0]), socket(t, fds[1])
	done := make(chan error, 1)
	go func() { done <- serve(t.Context(), b, theirs) }()
	t.Cleanup(func() { mine.Close() })
	return mine, func() error { return <-done }
}

func socket(t *testing.T, fd int) net.Conn {
	t.Helper()
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// readEvents reads events to the end of the stream, checking their numbers.
func readEvents(t *testing.T, conn io.Reader) (events []Event) {
	t.Helper()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		e, err := ParseEvent(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != uint64(len(events))+1 || e.Run != "run-1" {
			t.Fatalf("line %d has seq %d, run %q", len(events)+1, e.Seq, e.Run)
		}
		events = append(events, e)
	}
	return events
}

func results(events []Event) map[string][]*CommandResult {
	out := map[string][]*CommandResult{}
	for _, e := range events {
		if r, ok := e.Payload.(*CommandResult); ok {
			out[r.ID] = append(out[r.ID], r)
		}
	}
	return out
}

func line(id string, name Name) string {
	return fmt.Sprintf(`{"format":"codexctl.command/1","id":%q,"command":%q}`+"\n", id, name)
}

func TestEveryLineGetsOneResultAndTheStreamItsEnd(t *testing.T) {
	b := newFakeBackend()
	b.answer = func(c Command) (*Value, error) {
		switch c.ID {
		case "busy":
			return nil, &Refusal{Code: Busy, Reason: "later"}
		case "odd":
			return nil, errors.New("something else")
		}
		return &Value{Note: "done"}, nil
	}
	conn, wait := serveTo(t, b)
	input := line("a", Status) + "\n  \r\n" + "garbage\n" + line("busy", GoalPause) + line("odd", Stop) + `{"id":"x"}` + "\n" + strings.TrimSuffix(line("last", Status), "\n")
	if _, err := io.WriteString(conn, input); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	events := readEvents(t, conn)
	if err := wait(); err != nil {
		t.Error(err)
	}
	closed, ok := events[len(events)-1].Payload.(*StreamClosed)
	if !ok || closed.Events != uint64(len(events)-1) || closed.Reason != ClosedByInput {
		t.Errorf("the last event is %+v", events[len(events)-1].Payload)
	}
	got := results(events)
	for id, want := range map[string]Outcome{
		"a":    {Result: "ok", Value: &Value{Note: "done"}},
		"last": {Result: "ok", Value: &Value{Note: "done"}},
		"busy": {Result: "refused", Refused: &Refusal{Code: Busy, Reason: "later"}},
		"odd":  {Result: "refused", Refused: &Refusal{Code: Failed, Reason: "something else"}},
		"-":    {Result: "refused", Refused: &Refusal{Code: Malformed, Reason: "the line is not a JSON object: "}},
		"x":    {Result: "refused", Refused: &Refusal{Code: Malformed, Reason: `format must be "codexctl.command/1"`}},
	} {
		if len(got[id]) != 1 {
			t.Errorf("%s has %d results", id, len(got[id]))
			continue
		}
		outcome := got[id][0].Outcome
		if id == "-" {
			outcome.Refused.Reason = outcome.Refused.Reason[:len("the line is not a JSON object: ")]
		}
		if diff := cmp.Diff(want, outcome); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

func TestCommandsAreTakenInOrderAndAnsweredAsTheyFinish(t *testing.T) {
	b := newFakeBackend()
	release := make(chan struct{})
	b.answer = func(c Command) (*Value, error) {
		if c.ID == "slow" {
			<-release
		}
		return &Value{}, nil
	}
	conn, wait := serveTo(t, b)
	c := NewConn(conn)
	if err := c.Send(Command{ID: "slow", Name: GoalPause}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), Command{ID: "quick", Name: Stop}, func(e Event) {
		if r, ok := e.Payload.(*CommandResult); !ok || r.ID != "quick" {
			t.Errorf("before it came %+v", e.Payload)
		}
	}); err != nil {
		t.Fatal(err)
	}
	close(release)
	e, err := c.Next(t.Context())
	if r, ok := e.Payload.(*CommandResult); err != nil || !ok || r.ID != "slow" {
		t.Errorf("got %+v, %v", e.Payload, err)
	}
	c.Close()
	if err := wait(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"slow", "quick"}, b.got); diff != "" {
		t.Error(diff)
	}
}

func TestOwnersEndBringsItsLastEventsThenTheEnd(t *testing.T) {
	b := newFakeBackend()
	conn, wait := serveTo(t, b)
	go func() {
		for range 3 {
			b.events <- &Warning{Code: "w"}
		}
		close(b.events)
	}()
	events := readEvents(t, conn)
	if err := wait(); err != nil {
		t.Error(err)
	}
	closed, ok := events[len(events)-1].Payload.(*StreamClosed)
	if len(events) != 4 || !ok || closed.Reason != ClosedByOwner {
		t.Errorf("got %d events, the last %+v", len(events), events[len(events)-1].Payload)
	}
}

func TestCallerThatLeavesDisturbsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newFakeBackend()
		release := make(chan struct{})
		finished := false
		b.answer = func(Command) (*Value, error) {
			<-release
			finished = true
			return &Value{}, nil
		}
		conn, theirs := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- serve(t.Context(), b, theirs) }()
		if err := NewConn(conn).Send(Command{ID: "a", Name: GoalPause}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		conn.Close()
		synctest.Wait()
		close(release)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if !finished {
			t.Error("the command was not carried out to its end")
		}
	})
}

func TestCancelledWaitLosesNoEvent(t *testing.T) {
	b := newFakeBackend()
	conn, wait := serveTo(t, b)
	c := NewConn(conn)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if _, err := c.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
	go func() { b.events <- &Warning{Message: "kept"} }()
	e, err := c.Next(t.Context())
	if w, ok := e.Payload.(*Warning); err != nil || !ok || w.Message != "kept" {
		t.Errorf("got %+v, %v", e.Payload, err)
	}
	c.Close()
	wait()
}

func TestOverlongLineIsRefusedAndTheNextOneRead(t *testing.T) {
	in := lineReader{r: bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 100)+"\nshort\r\n"+strings.Repeat("y", 50)), 16), limit: 40}
	for _, want := range []string{"!", "short", "!", "EOF"} {
		got, err := in.next()
		text := string(got)
		switch {
		case errors.Is(err, errLineTooLong):
			text = "!"
		case errors.Is(err, io.EOF):
			text = "EOF"
		case err != nil:
			t.Fatal(err)
		}
		if text != want {
			t.Errorf("got %q, want %q", text, want)
		}
	}
}

// A caller that sends anything at all and leaves at any moment: each line that
// is not blank gets one result as long as the caller listens, and nothing hangs.
func FuzzStreamAnswersEachLineOnce(f *testing.F) {
	f.Add([]byte(line("a", Status)+line("a", Status)+"{}\n\n"), uint16(0))
	f.Add([]byte(line("a", GoalPause)+"x\n"+line("b", Stop)), uint16(40))
	f.Add(bytes.Repeat([]byte("\r\n{\n"), 200), uint16(7))
	f.Fuzz(func(t *testing.T, input []byte, leave uint16) {
		b := newFakeBackend()
		conn, wait := serveTo(t, b)
		gone := int(leave) > 0 && int(leave) < len(input)
		if gone {
			input = input[:leave]
		}
		want := 0
		for l := range bytes.Lines(input) {
			if len(trimSpace(trimLineEnd(l))) > 0 {
				want++
			}
		}
		go func() {
			conn.Write(input)
			if gone {
				conn.Close()
				return
			}
			if !bytes.HasSuffix(input, []byte("\n")) {
				io.WriteString(conn, "\n")
			}
			io.WriteString(conn, line("fuzz-end", Status))
		}()
		c := NewConn(conn)
		got := 0
		for {
			e, err := c.Next(t.Context())
			if err != nil {
				if !gone {
					t.Fatal(err)
				}
				break
			}
			r := e.Payload.(*CommandResult)
			if r.ID != "fuzz-end" {
				got++
			}
			if e.Seq != uint64(want)+1 {
				continue
			}
			break
		}
		c.Close()
		wait()
		if !gone && got != want {
			t.Fatalf("%d lines got %d results", want, got)
		}
	})
}
