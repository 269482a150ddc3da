package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	turn   string // "" if it names none
	told   []*Subscription
	event  *ServerRequest
	note   note
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
	q.event = &ServerRequest{ID: string(q.id), Thread: string(e.Thread())}
	var run func(context.Context) (reply, error)
	if known {
		var err error
		if q.event.Params, run, err = k.decode(&c.opts.Handlers, e.Payload); err != nil {
			c.stats.undecodable.Add(1)
			c.opts.Logger.Warn("server request does not have the shape of its type", "method", q.method, "error", err)
		}
	} else {
		c.stats.unknown.Add(1)
	}
	var named struct {
		Turn string `json:"turnId"`
	}
	_ = json.Unmarshal(e.Payload, &named) // null and params of another shape name none
	a.mu.Lock()
	q.turn = named.Turn
	q.told = c.hub.ask(Event{Method: q.method, Thread: q.event.Thread, Request: q.event, size: int32(min(len(e.Payload), 1<<30))}, e)
	a.mu.Unlock()
	if run == nil {
		a.refuse(q, AnsweredByRefusal)
		return
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(a.ctx, noteKey{}, &q.note))
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
			a.refuse(q, AnsweredByTimeout)
		})
	}
	a.mu.Unlock()
	if open {
		q.cancel(ErrHandlerTimeout)
	}
}

func (a *asks) handle(ctx context.Context, q *ask, run func(context.Context) (reply, error)) {
	defer q.cancel(nil)
	returned := false
	defer func() { // runtime.Goexit, as a test's FailNow calls it, runs this and nothing below the call
		if !returned {
			a.client.opts.Logger.Error("handler of a server request ended its goroutine, the request is refused", "method", q.method)
			a.refuse(q, AnsweredByRefusal)
		}
	}()
	result, err := guarded(ctx, run)
	returned = true
	if err == nil {
		a.settle(q, AnsweredByHandler, result.response, func() (int, error) { return a.client.stream.Answer(q.id, result.raw) })
		return
	}
	by := AnsweredByRefusal
	if ctx.Err() == nil {
		a.client.opts.Logger.Error("handler of a server request failed, the request is refused", "method", q.method, "error", err)
	} else if errors.Is(context.Cause(ctx), ErrHandlerTimeout) {
		by = AnsweredByTimeout
	}
	a.refuse(q, by)
}

func guarded(ctx context.Context, run func(context.Context) (reply, error)) (result reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return run(ctx)
}

// refuse gives the safe answer, if the request has none.
func (a *asks) refuse(q *ask, by AnsweredBy) {
	k, known := kinds[q.method]
	var refusal reply
	if k.refusal != nil {
		refusal = k.refusal()
	}
	counted := a.settle(q, by, refusal.response, func() (int, error) {
		switch {
		case !known:
			return a.client.stream.Refuse(q.id, codeMethodNotFound, "this client does not know "+q.method)
		case k.refusal == nil:
			return a.client.stream.Refuse(q.id, codeInternalError, "this client has no answer to "+q.method)
		}
		return a.client.stream.Answer(q.id, refusal.raw)
	})
	if counted {
		a.client.stats.refused.Add(1)
	}
}

// refuseUnread answers a request that was too long to be read. Nobody was told of it.
func (a *asks) refuseUnread(e *wire.Envelope) {
	q := &ask{id: bytes.Clone(e.ID), method: string(e.Method)}
	if a.register(q) {
		a.client.stats.asked.Add(1)
		a.refuse(q, AnsweredByRefusal)
	}
}

// settle has the answer written if the request is still open, and reports whether it was.
func (a *asks) settle(q *ask, by AnsweredBy, response any, write func() (int, error)) bool {
	a.mu.Lock()
	if a.open[string(q.id)] != q {
		a.mu.Unlock()
		return false
	}
	a.closeLocked(q, by, response)
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

// closeLocked ends the wait for an answer and tells those who were told of the request: before the answer is written, so
// that nothing Codex does because of it comes first.
func (a *asks) closeLocked(q *ask, by AnsweredBy, response any) {
	delete(a.open, string(q.id))
	if q.timer != nil {
		q.timer.Stop()
	}
	if len(q.told) == 0 {
		return
	}
	answer := &ServerAnswer{Request: q.event, By: by, Response: response}
	answer.Who, answer.Reason = q.note.read()
	a.client.hub.answer(Event{Method: q.method, Thread: q.event.Thread, Answer: answer}, q.told)
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
		a.closeLocked(q, AnsweredByResolved, nil)
	}
	delete(a.answered, string(p.RequestID))
	a.mu.Unlock()
	if q != nil && q.cancel != nil {
		q.cancel(ErrResolved)
	}
}

// turnEnded withdraws what the turn that the params of turn/completed name has asked: nobody is to decide what cannot
// happen any more. Codex may still wait for an answer, and has the safe refusal.
func (a *asks) turnEnded(params []byte) {
	a.mu.Lock()
	waiting := len(a.open)
	a.mu.Unlock()
	if waiting == 0 {
		return
	}
	var p struct {
		Thread string `json:"threadId"`
		Turn   struct {
			ID string `json:"id"`
		} `json:"turn"`
	}
	if json.Unmarshal(params, &p) != nil || p.Turn.ID == "" {
		return
	}
	var over []*ask
	a.mu.Lock()
	for _, q := range a.open {
		if q.turn == p.Turn.ID && q.event.Thread == p.Thread && q.cancel != nil {
			over = append(over, q)
		}
	}
	a.mu.Unlock()
	for _, q := range over {
		a.refuse(q, AnsweredByResolved)
		q.cancel(ErrResolved)
	}
}

// end cancels all handlers, when the connection is gone.
func (a *asks) end(cause error) {
	a.mu.Lock()
	for _, q := range a.open {
		a.closeLocked(q, AnsweredByClosed, nil)
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
