package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/codexctl/codexctl/codex/internal/wire"
)

const (
	// answersKept is how many answered requests are remembered so that they are not asked again. Codex says for each that it
	// is resolved, which ends the remembering earlier.
	answersKept = 1024
	// lateGrace is how long a handler whose time is over may still answer: to say why first, and then to decline.
	lateGrace = 5 * time.Second
	// handlerGrace is how long Close waits for handlers whose context has ended.
	handlerGrace = time.Second

	codeMethodNotFound = -32601
	codeInternalError  = -32603
)

// asks holds the server's requests. Each is answered once: by its handler, or with the safe refusal of its kind. The same
// request comes again when a thread is resumed, with the same id; it is neither asked nor answered twice.
type asks struct {
	client *Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	open     map[string]*ask // by raw id
	answered map[string]bool
	order    []string // of answered, oldest first
}

type ask struct {
	id     []byte // raw
	method string
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func newAsks(c *Client) *asks {
	a := &asks{client: c, open: make(map[string]*ask), answered: make(map[string]bool)}
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	return a
}

// ask takes a request in, on the reading goroutine.
func (a *asks) ask(e *wire.Envelope) {
	c := a.client
	q := &ask{id: bytes.Clone(e.ID), method: string(e.Method)}
	k, known := kinds[q.method]
	if !a.register(q) {
		c.stats.askedAgain.Add(1)
		c.hub.skip()
		return
	}
	c.stats.asked.Add(1)
	event := &ServerRequest{ID: string(q.id), Thread: string(e.Thread())}
	var run func(context.Context) ([]byte, error)
	if known {
		var err error
		if event.Params, run, err = k.decode(&c.opts.Handlers, e.Payload); err != nil {
			c.stats.undecodable.Add(1)
			c.opts.Logger.Warn("server request does not have the shape of its type", "method", q.method, "error", err)
		}
	} else {
		c.stats.unknown.Add(1)
	}
	if subs, wanted := c.hub.wanted(q.method, e); wanted {
		c.hub.publish(Event{Method: q.method, Thread: event.Thread, Request: event, size: int32(min(len(e.Payload), 1<<30))}, subs, e, false)
	} else {
		c.hub.skip()
	}
	if run == nil {
		a.refuse(q)
		return
	}
	ctx, cancel := context.WithCancelCause(a.ctx)
	a.mu.Lock()
	q.cancel = cancel
	q.timer = time.AfterFunc(c.opts.HandlerTimeout, func() { a.late(q) })
	a.mu.Unlock()
	a.wg.Go(func() { a.handle(ctx, q, run) })
}

// register is false if the request is known already.
func (a *asks) register(q *ask) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[string(q.id)] != nil || a.answered[string(q.id)] {
		return false
	}
	a.open[string(q.id)] = q
	return true
}

// late tells a handler that its time is over, and refuses the request if it does not answer soon.
func (a *asks) late(q *ask) {
	a.mu.Lock()
	open := a.open[string(q.id)] == q
	if open {
		q.timer = time.AfterFunc(lateGrace, func() {
			a.client.opts.Logger.Warn("server request was not answered in time and is refused", "method", q.method)
			a.refuse(q)
		})
	}
	a.mu.Unlock()
	if open {
		q.cancel(ErrHandlerTimeout)
	}
}

func (a *asks) handle(ctx context.Context, q *ask, run func(context.Context) ([]byte, error)) {
	defer q.cancel(nil)
	returned := false
	defer func() { // runtime.Goexit, as a test's FailNow calls it, runs this and nothing below the call
		if !returned {
			a.client.opts.Logger.Error("handler of a server request ended its goroutine, the request is refused", "method", q.method)
			a.refuse(q)
		}
	}()
	result, err := guarded(ctx, run)
	returned = true
	if err == nil {
		a.settle(q, func() (int, error) { return a.client.stream.Answer(q.id, result) })
		return
	}
	if ctx.Err() == nil {
		a.client.opts.Logger.Error("handler of a server request failed, the request is refused", "method", q.method, "error", err)
	}
	a.refuse(q)
}

func guarded(ctx context.Context, run func(context.Context) ([]byte, error)) (result []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return run(ctx)
}

// refuse gives the safe answer, if the request has none.
func (a *asks) refuse(q *ask) {
	k, known := kinds[q.method]
	counted := a.settle(q, func() (int, error) {
		switch {
		case !known:
			return a.client.stream.Refuse(q.id, codeMethodNotFound, "this client does not know "+q.method)
		case k.refusal == nil:
			return a.client.stream.Refuse(q.id, codeInternalError, "this client has no answer to "+q.method)
		}
		return a.client.stream.Answer(q.id, k.refusal())
	})
	if counted {
		a.client.stats.refused.Add(1)
	}
}

// refuseUnread answers a request that was too long to be read.
func (a *asks) refuseUnread(e *wire.Envelope) {
	q := &ask{id: bytes.Clone(e.ID), method: string(e.Method)}
	if a.register(q) {
		a.client.stats.asked.Add(1)
		a.refuse(q)
	}
}

// settle has the answer written if the request is still open, and reports whether it was.
func (a *asks) settle(q *ask, write func() (int, error)) bool {
	a.mu.Lock()
	if a.open[string(q.id)] != q {
		a.mu.Unlock()
		return false
	}
	a.closeLocked(q)
	a.answered[string(q.id)] = true
	a.order = append(a.order, string(q.id))
	if len(a.order) > answersKept {
		delete(a.answered, a.order[0])
		a.order = a.order[1:]
	}
	a.mu.Unlock()
	return a.client.flight.answer(func() {
		n, err := write()
		if err != nil {
			a.client.opts.Logger.Warn("answer to a server request was not written", "method", q.method, "error", err)
			a.client.torn(n, err)
		}
	})
}

func (a *asks) closeLocked(q *ask) {
	delete(a.open, string(q.id))
	if q.timer != nil {
		q.timer.Stop()
	}
}

// resolved ends the request that the params of serverRequest/resolved name: Codex waits for no answer any more.
func (a *asks) resolved(params []byte) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	a.mu.Lock()
	q := a.open[string(p.RequestID)]
	if q != nil {
		a.closeLocked(q)
	}
	delete(a.answered, string(p.RequestID))
	a.mu.Unlock()
	if q != nil && q.cancel != nil {
		q.cancel(ErrResolved)
	}
}

// end cancels all handlers, when the connection is gone.
func (a *asks) end(cause error) {
	a.mu.Lock()
	for _, q := range a.open {
		a.closeLocked(q)
	}
	a.mu.Unlock()
	a.cancel(cause)
}

// wait gives handlers a moment to heed that.
func (a *asks) wait() {
	idle := make(chan struct{})
	go func() {
		a.wg.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-time.After(handlerGrace):
		a.client.opts.Logger.Error("a handler of a server request does not heed its context")
	}
}
