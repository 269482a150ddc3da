package codextest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// maxRequest bounds the body of one request, in bytes. A long thread repeats its whole history in each request.
const maxRequest = 256 << 20

// models numbers the models of this process, so that item ids stay unique in a thread that outlives its model.
var models atomic.Int64

// A Model is a scripted language model on loopback. It serves until Close.
type Model struct {
	script  Script
	number  int64
	address string

	server  *http.Server
	ctx     context.Context // ends when the model closes, and with it every answer under way
	cancel  context.CancelFunc
	serving sync.WaitGroup // the accept loop and every handler

	// order is held from the arrival of a request until the script has chosen its reply, so that the nth request
	// recorded is the nth one the script saw.
	order sync.Mutex

	mu       sync.Mutex
	closed   bool
	requests []Request
	told     map[string]int // by objective, the first of requests whose Objective it is
	underway int            // HTTP requests that are being answered
	failures []error
	changed  chan struct{} // closed, and replaced, whenever one of the fields above changes
}

// NewModel starts a model that answers as script says. Close it when Codex is done with it.
func NewModel(script Script) (*Model, error) {
	if script == nil {
		panic("codextest: NewModel needs a script")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the scripted model: %w", err)
	}
	m := &Model{
		script:  script,
		number:  models.Add(1),
		address: listener.Addr().String(),
		told:    make(map[string]int),
		changed: make(chan struct{}),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.server = &http.Server{Handler: http.HandlerFunc(m.serve)}
	m.serving.Go(func() { _ = m.server.Serve(listener) })
	return m, nil
}

// URL is the model's base URL, without a slash at its end: what a Codex configuration calls base_url.
func (m *Model) URL() string { return "http://" + m.address + "/v1" }

// Close cuts the answers under way, stops the server and returns what [Model.Err] returns. No goroutine of the model
// outlives it. Close may be called again.
func (m *Model) Close() error {
	m.mu.Lock()
	m.closed = true
	m.announceLocked()
	m.mu.Unlock()
	m.cancel()
	_ = m.server.Close()
	m.serving.Wait()
	return m.Err()
}

// Err returns everything that went wrong with the script so far, nil if nothing did: requests it had no reply for,
// requests that are not what Codex 0.160.1 sends, and replies that cannot be played.
func (m *Model) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(m.failures...)
}

// Requests returns the requests that have arrived, oldest first.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Heard returns the requests in which the model was told text, oldest first; see [Request.Heard].
func (m *Model) Heard(text string) []Request {
	return slices.DeleteFunc(m.Requests(), func(r Request) bool { return !r.Heard(text) })
}

// serve handles one HTTP request.
func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	m.serving.Add(1)
	m.underway++
	m.mu.Unlock()
	defer m.done()

	if r.Method != http.MethodPost || r.URL.Path != "/v1/responses" {
		m.refuse(w, fmt.Errorf("the scripted model was asked for %s %s, which it does not serve", r.Method, r.URL.Path))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		if r.Context().Err() == nil && m.ctx.Err() == nil {
			m.refuse(w, fmt.Errorf("read a request to the scripted model: %w", err))
		}
		return
	}
	request, err := parseRequest(r.Header, body)
	if err != nil {
		m.refuse(w, err)
		return
	}

	request, reply := m.choose(request)
	if reply == nil {
		m.refuse(w, fmt.Errorf("the script has no reply for %s", request.describe()))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	answer := &answer{model: m, request: request, w: w, flush: http.NewResponseController(w).Flush}
	if err := answer.play(ctx, reply); err != nil {
		if !errors.Is(err, errGone) {
			m.fail(fmt.Errorf("answer %s: %w", request.describe(), err))
		}
		// Returning would give the response a proper end.
		panic(http.ErrAbortHandler)
	}
}

func (m *Model) done() {
	m.mu.Lock()
	m.underway--
	m.announceLocked()
	m.mu.Unlock()
	m.serving.Done()
}

// choose records the request and asks the script for its reply.
func (m *Model) choose(request Request) (Request, Reply) {
	objective := request.Objective()
	m.order.Lock()
	defer m.order.Unlock()
	m.mu.Lock()
	if _, known := m.told[objective]; objective != "" && !known {
		m.told[objective] = len(m.requests)
	}
	request.N = len(m.requests) + 1
	m.requests = append(m.requests, request)
	m.announceLocked()
	m.mu.Unlock()
	return request, m.script(request)
}

// refuse answers what the script did not foresee. Codex 0.160.1 reports the body of a 400 in full and, with retries
// off, does not ask again.
func (m *Model) refuse(w http.ResponseWriter, err error) {
	m.fail(err)
	http.Error(w, "codextest: "+err.Error(), http.StatusBadRequest)
}

func (m *Model) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures = append(m.failures, err)
	m.announceLocked()
}

func (m *Model) announceLocked() {
	close(m.changed)
	m.changed = make(chan struct{})
}
