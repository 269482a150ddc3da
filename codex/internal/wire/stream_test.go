package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
)

// notes is a receiver that writes down what it is called with.
type notes struct {
	t     *testing.T
	lines []string
	lost  chan struct{}
}

func (n *notes) note(format string, args ...any) {
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

// Notification confirms a guess as a decoder would.
func (n *notes) Notification(e *Envelope, guessed bool) bool {
	if guessed && strings.Contains(string(e.Payload), "broken") {
		return false
	}
	n.note("notification %s %s", e.Method, e.Payload)
	return true
}
func (n *notes) Request(e *Envelope) { n.note("request %s %s %s", e.ID, e.Method, e.Payload) }
func (n *notes) Reply(tag any, e *Envelope, owned bool) {
	n.note("reply %v %s owned %v", tag, e.Payload[:min(len(e.Payload), 20)], owned)
}
func (n *notes) Stray(e *Envelope, ours bool) { n.note("stray %s ours %v", e.ID, ours) }
func (n *notes) TooLong(tag any, e *Envelope, err *LineTooLongError) {
	n.note("too long %v %v %d", tag, e != nil, err.Size)
}
func (n *notes) Noise(line []byte, err error) { n.note("noise %s", line) }
func (n *notes) Lost(err error) {
	n.note("lost %v", err)
	close(n.lost)
}

// talk runs script with a stream and the other end of it, and returns what the receiver noted.
func talk(t *testing.T, maxLine int, script func(s *Stream, say func(string), heard func() string)) []string {
	t.Helper()
	var lines []string
	synctest.Test(t, func(t *testing.T) {
		n := &notes{t: t, lost: make(chan struct{})}
		in, theirOut := net.Pipe()
		theirIn, out := net.Pipe()
		var written strings.Builder
		go func() { _, _ = io.Copy(&written, theirIn) }()
		s := NewStream(NewLineReader(in, maxLine, nil), out, n, nil)
		script(s, func(line string) {
			if _, err := io.WriteString(theirOut, line+"\n"); err != nil {
				t.Error(err)
			}
		}, func() string {
			synctest.Wait()
			defer written.Reset()
			return written.String()
		})
		_ = theirOut.Close()
		<-n.lost
		_ = out.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		lines = n.lines
	})
	return lines
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func TestFramesReachTheReceiverInWireOrder(t *testing.T) {
	got := talk(t, 0, func(s *Stream, say func(string), heard func() string) {
		for _, tag := range []string{"A", "B"} {
			if _, _, err := s.Send(NewFrame("m", []byte(`{"x":1}`)), tag); err != nil {
				t.Fatal(err)
			}
		}
		if w := heard(); w != `{"id":0,"method":"m","params":{"x":1}}`+"\n"+`{"id":1,"method":"m","params":{"x":1}}`+"\n" {
			t.Errorf("wrote %s", w)
		}
		say(`{"method":"n","params":{"a":1},"emittedAtMs":1}`)
		say(`{"id":1,"result":{"late":false}}`)
		say(`{"method":"n","params":{"broken":1},"x":[],"emittedAtMs":1}`)
		say(`{"method":"n","params":{"broken":1,"emittedAtMs":1}`)
		say(`{"method":"q","id":7,"params":{}}`)
		say(`{"error":{"code":1},"id":0}`)
		say(`{"id":1,"result":2}`)
		say(`{"id":2,"result":2}`)
		say(`{"id":"1","result":2}`)
		say(`{"id":-1,"result":2}`)
		say("\r")
		say(`{"id":1.5,"result":2}`)
	})
	expect(t, got,
		`notification n {"a":1}`, `reply B {"late":false} owned false`, `notification n {"broken":1}`, `noise {"method":"n","params":{"broken":1,"emittedAtMs":1}`,
		`request 7 q {}`, `reply A {"code":1} owned false`, `stray 1 ours true`, `stray 2 ours false`, `stray "1" ours false`, `stray -1 ours false`,
		`noise {"id":1.5,"result":2}`, `lost EOF`)
}

func TestRequestThatWasGivenUpIsForgotten(t *testing.T) {
	got := talk(t, 0, func(s *Stream, say func(string), heard func() string) {
		var ids []uint64
		for _, tag := range []string{"A", "B", "C"} {
			id, _, err := s.Send(NewFrame("m", nil), tag)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		heard()
		s.GiveUp(ids[0])
		s.GiveUp(ids[1])
		say(`{"id":2,"result":1}`)
		say(`{"id":0,"result":2}`) // finds nothing
		say(`{"id":1,"result":3}`)
	})
	expect(t, got, `reply C 1 owned false`, `stray 0 ours true`, `stray 1 ours true`, `lost EOF`)
}

func TestBooksOfJSONRPC2DoNotGrow(t *testing.T) {
	const times = 10 * overBatch
	talk(t, 0, func(s *Stream, say func(string), heard func() string) {
		for n := range times {
			id, _, err := s.Send(NewFrame("m", nil), n)
			if err != nil {
				t.Fatal(err)
			}
			if n%2 == 0 {
				s.GiveUp(id)
			} else {
				say(fmt.Sprintf(`{"id":%d,"result":1}`, id))
			}
		}
		heard()
		if n := reflect.ValueOf(s.conn).Elem().FieldByName("pending").Len(); n >= overBatch {
			t.Errorf("%d requests of %d are still on them", n, times)
		}
		if len(s.waiting) != 0 {
			t.Errorf("%d requests wait", len(s.waiting))
		}
	})
}

func TestAnswersKeepTheServersIDs(t *testing.T) {
	got := talk(t, 0, func(s *Stream, say func(string), heard func() string) {
		for id, want := range map[string]string{`7`: `7`, `-3`: `-3`, `"a\"b"`: `"a\"b"`, `"\u0041"`: `"A"`} {
			if _, err := s.Answer([]byte(id), []byte(`{"y":1}`)); err != nil {
				t.Fatal(err)
			}
			if w := heard(); w != `{"id":`+want+`,"result":{"y":1}}`+"\n" {
				t.Errorf("wrote %s", w)
			}
			if _, err := s.Refuse([]byte(id), -1, "no"); err != nil {
				t.Fatal(err)
			}
			if w := heard(); w != `{"id":`+want+`,"error":{"code":-1,"message":"no"}}`+"\n" {
				t.Errorf("wrote %s", w)
			}
		}
		if _, err := s.Notify(NewFrame("hello", nil)); err != nil {
			t.Fatal(err)
		}
		if w := heard(); w != `{"method":"hello"}`+"\n" {
			t.Errorf("wrote %s", w)
		}
	})
	expect(t, got, `lost EOF`)
}

func TestLongLinesFindTheirRequest(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	got := talk(t, 150_000, func(s *Stream, say func(string), heard func() string) {
		for _, tag := range []string{"A", "B"} {
			if _, _, err := s.Send(NewFrame("m", nil), tag); err != nil {
				t.Fatal(err)
			}
		}
		say(`{"id":0,"result":"` + long + `"}`)
		say(`{"id":1,"result":"` + long[:100_000] + `"}`)
		say(`{"id":0,"result":"` + long + `"}`)
		say(`{"method":"n","params":{"a":"` + long + `"}}`)
		say(`{"method":"q","id":1,"params":{"a":"` + long + `"}}`)
		say(`"` + long + `"`)
	})
	expect(t, got, `too long A true 200020`, `reply B "xxxxxxxxxxxxxxxxxxx owned true`, `too long <nil> true 200020`,
		`too long <nil> true 200032`, `too long <nil> true 200039`, `too long <nil> false 200002`, `lost EOF`)
}

func TestWriteAfterTheEndSaysThatNothingWasWritten(t *testing.T) {
	got := talk(t, 0, func(s *Stream, say func(string), heard func() string) {
		_ = s.Close()
		if _, n, err := s.Send(NewFrame("m", nil), "A"); err == nil || n != 0 {
			t.Errorf("%d, %v", n, err)
		}
		if n, err := s.Answer([]byte("1"), []byte("{}")); err == nil || n != 0 {
			t.Errorf("%d, %v", n, err)
		}
	})
	expect(t, got, `lost EOF`)
}

func TestTornWriteSaysHowMuchWentOut(t *testing.T) {
	n := &notes{t: t, lost: make(chan struct{})}
	in, theirs := net.Pipe()
	broken := errors.New("broken")
	s := NewStream(NewLineReader(in, 0, nil), writer(func(p []byte) (int, error) { return 5, broken }), n, nil)
	_, written, err := s.Send(NewFrame("m", nil), "A")
	if written != 5 || !errors.Is(err, broken) {
		t.Errorf("%d, %v", written, err)
	}
	_ = theirs.Close()
	<-n.lost
	_ = s.Close()
	_ = in.Close()
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
