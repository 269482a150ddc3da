package codex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/codexctl/codexctl/codex/internal/wire"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/version"
)

// lostGrace is how long an app-server may live on after it has closed its output.
const lostGrace = 2 * time.Second

// Client is one connection to one app-server. All its methods may be called from any goroutine.
type Client struct {
	opts      Options
	transport Transport
	stream    *wire.Stream
	hub       *hub
	flight    *flight
	asks      *asks
	trace     *tracer
	stats     counters
	threads   threadNames // of the reading goroutine
	server    ServerInfo
	config    configWarnings
	direct    bool // callers may write for themselves

	mu     sync.Mutex
	reason error // why the client itself ended the connection

	written chan struct{} // closed when the writer has ended
	done    chan struct{}
	err     error // set before done is closed
}

// ServerInfo describes the app-server at the other end.
type ServerInfo struct {
	UserAgent string
	Version   string // of Codex
	CodexHome string
	// Executable is the file that was started, links followed; empty when Options.Dial supplied the app-server.
	Executable string
	// Process identifies the app-server beyond the life of this client; see [ProcessID].
	Process ProcessID
}

func connect(t Transport, o Options) *Client {
	c := &Client{opts: o, transport: t, written: make(chan struct{}), done: make(chan struct{})}
	c.hub = newHub(&c.stats)
	c.flight = newFlight(o.MaxInFlight, &c.stats)
	c.flight.finished = c.finished
	c.flight.giveUp = func(id uint64) { c.stream.GiveUp(id) }
	c.flight.behind = c.Pending
	c.asks = newAsks(c)
	c.trace = newTracer(o.Trace, &c.stats)
	lines := wire.NewLineReader(t, o.MaxLine, c.hub.flush)
	_, try := t.(wire.TryWriter)
	c.direct = try && c.trace == nil
	c.stream = wire.NewStream(lines, counting{t, &c.stats}, (*receiver)(c), c.passed)
	go c.write()
	return c
}

func (c *Client) introduce(ctx context.Context) error {
	yes := true
	caps := protocol.InitializeCapabilities{}
	if !c.opts.NoExperimental {
		caps.ExperimentalAPI = &yes
	}
	if len(c.opts.OptOut) > 0 {
		caps.OptOutNotificationMethods = protocol.Some(c.opts.OptOut)
	}
	info := protocol.ClientInfo{Name: c.opts.Client.Name, Version: c.opts.Client.Version}
	if c.opts.Client.Title != "" {
		info.Title = protocol.Some(c.opts.Client.Title)
	}
	r, err := Call(ctx, c, protocol.InitializeMethod, protocol.InitializeParams{ClientInfo: info, Capabilities: protocol.Some(caps)})
	if err != nil {
		return err
	}
	v, err := version.FromUserAgent(info.Name, r.UserAgent)
	if err == nil {
		err = version.Check(v)
	}
	if err != nil {
		return err
	}
	c.server = ServerInfo{UserAgent: r.UserAgent, Version: v, CodexHome: string(r.CodexHome), Process: c.transport.Process()}
	if p, ok := c.transport.(*process); ok {
		c.server.Executable = p.executable.path
	}
	told := make(chan error, 1)
	if !c.flight.answer(func() {
		n, err := c.stream.Notify(wire.NewFrame("initialized", nil))
		c.torn(n, err)
		told <- err
	}) {
		return c.why()
	}
	select {
	case err = <-told:
		return err
	case <-c.done:
		return c.err
	}
}

// write is the only goroutine that writes to the app-server.
func (c *Client) write() {
	defer close(c.written)
	for ; ; c.flight.rested() {
		answer, r, ok := c.flight.take()
		switch {
		case !ok:
			return
		case answer != nil:
			_ = c.transport.SetWriteDeadline(time.Now().Add(c.opts.CallTimeout))
			answer()
			_ = c.transport.SetWriteDeadline(time.Time{})
		default:
			_ = c.transport.SetWriteDeadline(r.deadline)
			id, n, err := c.stream.Send(r.frame, r)
			_ = c.transport.SetWriteDeadline(time.Time{}) // for callers who write for themselves
			if err != nil {
				c.flight.unwritten(r, n, err)
				c.torn(n, err)
				continue
			}
			c.flight.wrote(r, id)
		}
	}
}

// send takes a request in. When nothing else is to be written and the line is short, the caller writes it for itself: waking
// the writer costs more than the write. It never waits for the app-server to read.
func (c *Client) send(r *request, unfit error) {
	short := c.direct && unfit == nil && r.frame.Len() <= atomicWrite
	if !c.flight.add(r, unfit, short) {
		return
	}
	switch id, err := c.stream.TrySend(r.frame, r); {
	case err == nil:
		c.flight.wrote(r, id)
	case errors.Is(err, wire.ErrWouldWait):
		c.flight.handBack(r)
		return
	default:
		c.flight.unwritten(r, 0, err)
	}
	c.flight.rested()
}

// torn ends the connection when a line went out in part: whatever follows would be read as its end.
func (c *Client) torn(written int, err error) {
	if err == nil || written == 0 {
		return
	}
	c.end(fmt.Errorf("a write broke off after %d bytes: %w", written, err))
	_ = c.transport.Kill()
}

// counting counts what goes out.
type counting struct {
	io.Writer
	stats *counters
}

func (w counting) Write(line []byte) (int, error) {
	n, err := w.Writer.Write(line)
	w.stats.sentBytes.Add(uint64(n))
	if err == nil {
		w.stats.sent.Add(1)
	}
	return n, err
}

func (w counting) TryWrite(line []byte) error {
	err := w.Writer.(wire.TryWriter).TryWrite(line)
	if err == nil {
		w.stats.sentBytes.Add(uint64(len(line)))
		w.stats.sent.Add(1)
	}
	return err
}

// passed sees every line, on the goroutine that reads it or is about to write it.
func (c *Client) passed(line []byte, sent bool) {
	if !sent {
		c.stats.received.Add(1)
		c.stats.receivedBytes.Add(uint64(len(line)))
	}
	c.trace.frame(line, sent)
}

// end records why the client itself ends the connection, if nothing did before.
func (c *Client) end(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == nil {
		c.reason = reason
	}
}

// why is the reason that has been recorded so far.
func (c *Client) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}

// lost is called by the reading goroutine when there is nothing more to read.
func (c *Client) lost(err error) {
	c.flight.refuse(c.cause(err, nil))
	_ = c.transport.CloseWrite()
	c.flight.stop()
	grace := time.NewTimer(lostGrace)
	select {
	case <-c.transport.Done():
	case <-grace.C:
		_ = c.transport.Kill()
		<-c.transport.Done()
	}
	grace.Stop()
	<-c.written
	c.err = c.cause(err, c.transport.Err())
	c.asks.end(c.err)
	c.flight.lose(c.err)
	c.hub.end(c.err)
	_ = c.transport.CloseRead()
	c.trace.close()
	close(c.done)
}

func (c *Client) cause(read, exit error) error {
	switch reason := c.why(); {
	case errors.Is(reason, ErrClosed):
		return ErrClosed
	case reason != nil:
		return &LostError{Process: c.transport.Process(), Err: reason}
	case exit != nil:
		return &LostError{Process: c.transport.Process(), Err: exit}
	case read == io.EOF:
		return &LostError{Process: c.transport.Process(), Err: errors.New("the app-server closed its output")}
	}
	return &LostError{Process: c.transport.Process(), Err: read}
}

// Close ends the app-server: its input is closed, and if it does not end by that it gets SIGTERM and then, with all it has
// started, SIGKILL. When Close returns the process is gone and no goroutine of the client is left but a handler that does
// not heed its context, and one that waits for a Write of Options.Trace that has not returned within a second. Requests not yet written are NotSent, those without an answer Unknown. It may be called again.
func (c *Client) Close() error {
	c.end(ErrClosed)
	c.flight.close(ErrClosed)
	steps := []func() error{c.transport.CloseWrite, c.transport.Terminate, c.transport.Kill}
	for i, step := range steps {
		if c.gone() {
			break
		}
		_ = step()
		if i == len(steps)-1 {
			break
		}
		select {
		case <-c.done:
		case <-time.After(c.opts.CloseTimeout):
			c.opts.Logger.Warn("codex app-server does not end", "step", i+1, "pid", c.transport.Process().PID)
		}
	}
	<-c.done
	c.asks.wait()
	return nil
}

func (c *Client) gone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Kill ends the app-server and all it has started at once, with SIGKILL. It does not wait: Done and Close do.
func (c *Client) Kill() error { return c.Abort(ErrClosed) }

// Abort is [Client.Kill] for a reason, which is the cause that the [*LostError] of the end and of all pending calls tells.
func (c *Client) Abort(reason error) error {
	c.end(reason)
	return c.transport.Kill()
}

// Done is closed when the connection has ended, the process is gone and every call has its outcome.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err is why the connection ended: [ErrClosed] after Close or Kill, a [*LostError] otherwise, after Abort with its reason, nil while it lives.
func (c *Client) Err() error {
	if c.gone() {
		return c.err
	}
	return nil
}

// Server describes the app-server.
func (c *Client) Server() ServerInfo { return c.server }

// ExecutableReplaced reports whether the file that was started is no longer what lies at its path, as an update leaves it.
// Codex runs its own path again for each sandboxed command, which then is another release or fails: the remedy is a new
// start. It looks at the file system at each call. False when Options.Dial supplied the app-server.
func (c *Client) ExecutableReplaced() bool {
	p, ok := c.transport.(*process)
	return ok && p.executable.replaced()
}

// Pending reports whether something that the app-server has written is still to be read or to be handed to subscriptions.
// Who judges a deadline of its own asks first: after a suspension of this process much may wait there. It is false for a
// Transport that cannot tell.
func (c *Client) Pending() bool {
	p, ok := c.transport.(interface{ Pending() bool })
	return ok && !c.gone() && p.Pending()
}

// Subscribe begins to queue events, from the next frame on. A subscription that is not read any more should be closed.
func (c *Client) Subscribe(o SubscribeOptions) *Subscription { return c.hub.subscribe(o) }

// Stats returns what has been counted so far.
func (c *Client) Stats() Stats {
	s := c.stats.read()
	s.InFlight, s.Waiting = c.flight.load()
	if p, ok := c.transport.(*process); ok {
		s.StderrBytes = p.stderr.written()
	}
	return s
}

func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
