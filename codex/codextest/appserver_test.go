package codextest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex/codextest"
)

// patience is how long a test waits for something that ought to happen, on a machine that may be busy.
const patience = 60 * time.Second

// appServer is the plainest possible client of the real app-server, so that what these tests say about the model rests
// on nothing but the two of them.
type appServer struct {
	t     *testing.T
	ctx   context.Context
	cmd   *exec.Cmd
	stdin io.WriteCloser
	stop  func() // ends the process and waits until it is gone
	next  int
	mark  int // messages before this one have been looked at by await

	mu       sync.Mutex
	messages []message
	changed  chan struct{}
	eof      bool
	stderr   bytes.Buffer
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// startAppServer runs the real Codex in home, initialized. It is gone when the test ends.
func startAppServer(t *testing.T, home *codextest.Home) *appServer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	s := &appServer{t: t, ctx: ctx, changed: make(chan struct{})}
	s.cmd = exec.Command(codextest.Binary(t), "app-server")
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = home.Work, home.Env(), &s.stderr
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read(stdout)
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		_ = s.stdin.Close()
		kill := time.AfterFunc(10*time.Second, func() { _ = s.cmd.Process.Kill() })
		<-read
		err := s.cmd.Wait()
		kill.Stop()
		if err != nil || t.Failed() {
			t.Logf("app-server ended: %v; it said:\n%s", err, s.stderr.String())
		}
	})
	t.Cleanup(s.stop)
	s.call("initialize", map[string]any{
		"clientInfo":   map[string]any{"name": "codextest", "version": "0"},
		"capabilities": map[string]any{"experimentalApi": true},
	}, nil)
	s.write(map[string]any{"method": "initialized"})
	return s
}

func (s *appServer) read(stdout io.Reader) {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		var m message
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		s.mu.Lock()
		if err == nil {
			s.messages = append(s.messages, m)
		} else {
			s.eof = true
		}
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			_, _ = io.Copy(io.Discard, stdout)
			return
		}
	}
}

func (s *appServer) write(m map[string]any) {
	s.t.Helper()
	line, err := json.Marshal(m)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.stdin.Write(append(line, '\n')); err != nil {
		s.t.Fatal(err)
	}
}

// find waits for the first message from index from on that match accepts.
func (s *appServer) find(what string, from int, match func(message) bool) (int, message) {
	s.t.Helper()
	for i := from; ; {
		s.mu.Lock()
		messages, changed, eof := s.messages, s.changed, s.eof
		s.mu.Unlock()
		for ; i < len(messages); i++ {
			if match(messages[i]) {
				return i, messages[i]
			}
		}
		if eof {
			s.t.Fatalf("app-server ended before %s", what)
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
			s.t.Fatalf("no %s: %v; since then there came %s", what, context.Cause(s.ctx), s.methods(from))
		}
	}
}

func (s *appServer) methods(from int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, m := range s.messages[min(from, len(s.messages)):] {
		names = append(names, m.Method)
	}
	return strings.Join(names, " ")
}

// call makes a request and decodes its result.
func (s *appServer) call(method string, params any, result any) {
	s.t.Helper()
	if m := s.try(method, params); m.Error != nil {
		s.t.Fatalf("%s: %s", method, m.Error.Message)
	} else if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			s.t.Fatalf("%s: %v", method, err)
		}
	}
}

// try makes a request and returns the response, be it an error or not.
func (s *appServer) try(method string, params any) message {
	s.t.Helper()
	s.next++
	id := fmt.Sprint(s.next)
	s.mu.Lock()
	from := len(s.messages)
	s.mu.Unlock()
	s.write(map[string]any{"id": s.next, "method": method, "params": params})
	_, m := s.find("reply to "+method, from, func(m message) bool { return m.Method == "" && string(m.ID) == id })
	return m
}

// await returns the params of the next notification of that name that match accepts, decoded. Each call goes on behind
// what the one before it found.
func await[P any](s *appServer, method string, match func(P) bool) P {
	s.t.Helper()
	i, m := s.find(method, s.mark, func(m message) bool {
		return m.Method == method && (match == nil || match(decode[P](s.t, m.Params)))
	})
	s.mark = i + 1
	return decode[P](s.t, m.Params)
}

// startThread starts a thread in home's working directory and returns its id.
func (s *appServer) startThread(home *codextest.Home) string {
	s.t.Helper()
	var started struct{ Thread struct{ ID string } }
	s.call("thread/start", map[string]any{"cwd": home.Work}, &started)
	return started.Thread.ID
}

func decode[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// prompt starts a turn of the user's and returns its id.
func (s *appServer) prompt(thread, text string) string {
	s.t.Helper()
	var started struct{ Turn struct{ ID string } }
	s.call("turn/start", map[string]any{
		"threadId": thread, "input": []any{map[string]any{"type": "text", "text": text}},
	}, &started)
	return started.Turn.ID
}

// completed waits for the end of turn and returns it with the items that were completed on the way.
func (s *appServer) completed(turn string) (turnEvent, []item) {
	s.t.Helper()
	var items []item
	end, m := s.find("end of the turn", s.mark, func(m message) bool {
		switch m.Method {
		case "item/completed":
			if e := decode[itemEvent](s.t, m.Params); e.TurnID == turn {
				items = append(items, e.Item)
			}
		case "turn/completed":
			return decode[turnEvent](s.t, m.Params).Turn.ID == turn
		}
		return false
	})
	s.mark = end + 1
	return decode[turnEvent](s.t, m.Params), items
}

// The few fields of native messages that these tests read.
type (
	goal struct {
		Objective, Status string
		TokensUsed        int64
	}
	goalUpdated struct {
		TurnID *string
		Goal   goal
	}
	turnError struct {
		Message        string
		CodexErrorInfo json.RawMessage
	}
	turnEvent struct {
		Turn struct {
			ID, Status string
			Error      *turnError
		}
	}
	item      struct{ Type, ID, Text, Status string }
	itemEvent struct {
		TurnID string
		Item   item
	}
)
