package control

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Callers come and go at random, ask for the same commands again and again and
// leave without their results. Every command is carried out at most once, and
// whoever asks again gets one and the same result.
func TestCallersThatComeAndGoNeverMakeACommandRunTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newFakeWorker()
		c, err := newController(w, &memoryLog{}, Owner{})
		if err != nil {
			rt.Fatal(err)
		}
		defer c.Close()
		const ids = 6
		command := func(id int) Command {
			return Command{ID: fmt.Sprint(id), Name: []Name{GoalSet, Steer, GoalEdit}[id%3], Text: fmt.Sprint("text ", id)}
		}
		conns := []*Conn{}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch {
			case len(conns) == 0 || rapid.IntRange(0, 4).Draw(rt, "open") == 0:
				conns = append(conns, c.Connect())
			case rapid.IntRange(0, 3).Draw(rt, "leave") == 0:
				i := rapid.IntRange(0, len(conns)-1).Draw(rt, "who")
				conns[i].Close()
				conns = append(conns[:i], conns[i+1:]...)
			default:
				conn := conns[rapid.IntRange(0, len(conns)-1).Draw(rt, "who")]
				cmd := command(rapid.IntRange(0, ids-1).Draw(rt, "what"))
				if rapid.Bool().Draw(rt, "waits") {
					if _, err := conn.Do(t.Context(), cmd, nil); err != nil {
						rt.Fatalf("%s: %v", cmd.ID, err)
					}
				} else if err := conn.Send(cmd); err != nil {
					rt.Fatal(err)
				}
			}
		}
		for _, conn := range conns {
			conn.Close()
		}
		last := c.Connect()
		defer last.Close()
		for id := range ids {
			for range 2 {
				if _, err := last.Do(t.Context(), command(id), nil); err != nil {
					rt.Fatal(err)
				}
			}
		}
		for id := range ids {
			n := 0
			for _, call := range w.calls {
				if strings.HasSuffix(call, fmt.Sprint("text ", id)) {
					n++
				}
			}
			if n != 1 {
				rt.Fatalf("command %d was carried out %d times: %v", id, n, w.calls)
			}
		}
	})
}

// Anything at all on the line, over a real controller.
func FuzzControllerAnswersEachLineOnce(f *testing.F) {
	f.Add([]byte(line("a", GoalPause) + line("a", GoalPause) + line("a", GoalClear) + "{}\n\n"))
	f.Add([]byte(`{"format":"codexctl.command/1","id":"x","command":"goal.set","text":"t","token_budget":5}` + "\n" + line("s", Stop)))
	f.Add([]byte(line("l", CommandsList) + line("q", Status) + line("g", GoalShow)))
	f.Fuzz(func(t *testing.T, input []byte) {
		c, err := newController(newFakeWorker(), &memoryLog{}, Owner{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		want := 0
		for l := range strings.Lines(string(input)) {
			if len(trimSpace(trimLineEnd([]byte(l)))) > 0 {
				want++
			}
		}
		mine, done := serveTo(t, c)
		go func() {
			mine.Write(input)
			mine.(interface{ CloseWrite() error }).CloseWrite()
		}()
		conn := NewConn(mine)
		got := 0
		for {
			e, err := conn.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.Payload.(*CommandResult); ok {
				got++
			}
		}
		if err := done(); err != nil || got != want {
			t.Fatalf("%d lines got %d results, %v", want, got, err)
		}
	})
}
