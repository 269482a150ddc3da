package protocol_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// patience is how long a test waits for the real Codex before it gives up.
const patience = 60 * time.Second

// appServer is the real Codex, spoken to line by line so that every byte it says
// can be held against the types.
type appServer struct {
	t      *testing.T
	judge  *judge
	stdin  io.WriteCloser
	answer map[string]string // server request → result to send, as JSON

	mu      sync.Mutex
	changed chan struct{}
	replies map[int64]message
	seen    []message // notifications and server requests in the order they came
	next    int64
	gone    bool
}

type message struct {
	ID     json.RawMessage             `json:"id"`
	Method string                      `json:"method"`
	Params json.RawMessage             `json:"params"`
	Result json.RawMessage             `json:"result"`
	Error  *protocol.JSONRPCErrorError `json:"error"`
}

func startAppServer(t *testing.T, home *codextest.Home, j *judge) *appServer {
	t.Helper()
	return startAppServerOf(t, codextest.Binary(t), home, j)
}

// startAppServerOf starts the app-server of any Codex.
func startAppServerOf(t *testing.T, codex string, home *codextest.Home, j *judge) *appServer {
	t.Helper()
	s := &appServer{t: t, judge: j, changed: make(chan struct{}), replies: map[int64]message{}, answer: map[string]string{}}
	cmd := exec.Command(codex, "app-server")
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = home.Work, home.Env(), &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read(stdout)
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		<-read
		err := cmd.Wait()
		kill.Stop()
		if t.Failed() {
			t.Logf("app-server ended: %v; it said:\n%s", err, stderr.String())
		}
	})
	return s
}

// read sorts what Codex says. Every notification and server request is judged.
func (s *appServer) read(stdout io.Reader) {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			s.update(func() { s.gone = true })
			return
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			s.judge.complain("a line that is not JSON: %s", line)
			continue
		}
		switch {
		case m.Method == "":
			s.update(func() { s.replies[number(m.ID)] = m })
		case m.ID != nil:
			s.judge.request(m)
			s.update(func() { s.seen = append(s.seen, m) })
			s.reply(m)
		default:
			s.judge.notification(m, line)
			s.update(func() { s.seen = append(s.seen, m) })
		}
	}
}

func number(id json.RawMessage) int64 {
	var n int64
	_ = json.Unmarshal(id, &n)
	return n
}

func (s *appServer) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// reply answers a server request with what the test prepared, else with an error.
func (s *appServer) reply(m message) {
	s.mu.Lock()
	result, ok := s.answer[m.Method]
	s.mu.Unlock()
	if ok {
		s.write(`{"id":` + string(m.ID) + `,"result":` + result + `}`)
		return
	}
	s.write(`{"id":` + string(m.ID) + `,"error":{"code":-32603,"message":"no answer prepared"}}`)
}

func (s *appServer) write(line string) {
	if _, err := io.WriteString(s.stdin, line+"\n"); err != nil {
		s.judge.complain("write to Codex: %v", err)
	}
}

// wait waits until the condition, which is called with the lock held, is true.
func (s *appServer) wait(what string, condition func() bool) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		met, changed, gone := condition(), s.changed, s.gone
		s.mu.Unlock()
		switch {
		case met:
			return
		case gone:
			s.t.Fatalf("Codex is gone while waiting for %s", what)
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("no %s within %v", what, patience)
		}
	}
}

// send writes a request and returns its id. Params are JSON, "" for none.
func (s *appServer) send(method, params string) int64 {
	s.mu.Lock()
	s.next++
	id := s.next
	s.mu.Unlock()
	line := `{"id":` + string(encode(s.t, id)) + `,"method":` + string(encode(s.t, method))
	if params != "" {
		line += `,"params":` + params
	}
	s.write(line + `}`)
	return id
}

// await waits for the reply to a request.
func (s *appServer) await(id int64, method string) message {
	s.t.Helper()
	var m message
	s.wait("reply to "+method, func() bool {
		var ok bool
		m, ok = s.replies[id]
		return ok
	})
	return m
}

// call writes a request, waits for its reply and judges a result.
func (s *appServer) call(method, params string) message {
	s.t.Helper()
	m := s.await(s.send(method, params), method)
	if m.Error == nil {
		s.judge.result(method, m.Result)
	}
	return m
}

// must is call for requests that have to succeed.
func (s *appServer) must(method, params string) json.RawMessage {
	s.t.Helper()
	m := s.call(method, params)
	if m.Error != nil {
		s.t.Fatalf("%s %s: %s", method, params, m.Error.Message)
	}
	return m.Result
}

// until waits for a notification or server request, counted from an index in
// seen, and returns the index after it.
func (s *appServer) until(from int, method string) int {
	s.t.Helper()
	at := 0
	s.wait(method, func() bool {
		for i := from; i < len(s.seen); i++ {
			if s.seen[i].Method == method {
				at = i + 1
				return true
			}
		}
		return false
	})
	return at
}

func (s *appServer) now() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// initialize shakes hands, with the experimental protocol.
func (s *appServer) initialize() {
	s.t.Helper()
	s.must("initialize", `{"clientInfo":{"name":"protocol test","version":"0"},"capabilities":{"experimentalApi":true}}`)
	s.write(`{"method":"initialized"}`)
}
