package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/codexctl/codexctl/codex/internal/wire"
	"github.com/codexctl/codexctl/codex/protocol"
)

// receiver is the client on its reading goroutine.
type receiver Client

// threadNames keeps the name of the thread last spoken of, which is that of most frames: a copy a frame would be dear.
type threadNames struct{ last string }

func (n *threadNames) name(b []byte) string {
	if string(b) != n.last {
		n.last = string(b)
	}
	return n.last
}

// inbound is what is to be known about a notification before it is decoded.
type inbound struct {
	name string
	// droppable events can be made up for by reading back. The others are control events: they say that something began
	// or ended, and nothing else says it again.
	droppable bool
}

var inbounds = func() map[string]inbound {
	all := make(map[string]inbound)
	for m := range protocol.Methods() {
		if m.Direction == protocol.DirServerNotification {
			all[m.Name] = inbound{name: m.Name, droppable: true}
		}
	}
	for _, control := range []string{
		protocol.NotifyTurnStarted, protocol.NotifyTurnCompleted, protocol.NotifyThreadGoalUpdated, protocol.NotifyThreadGoalCleared,
		protocol.NotifyError, protocol.NotifyItemCompleted, protocol.NotifyServerRequestResolved,
	} {
		all[control] = inbound{name: control}
	}
	return all
}()

func (rc *receiver) Notification(e *wire.Envelope, guessed bool) bool {
	c := (*Client)(rc)
	in, known := inbounds[string(e.Method)]
	if !known {
		if guessed {
			return false
		}
		in = inbound{name: string(e.Method), droppable: true}
		c.report(&c.stats.unknown, slog.LevelDebug, "unknown notification", "method", in.name)
	}
	subs, wanted := c.hub.wanted(in.name, e)
	resolved := in.name == protocol.NotifyServerRequestResolved
	turnEnded := in.name == protocol.NotifyTurnCompleted
	config := in.name == protocol.NotifyConfigWarning
	if guessed && (!wanted || resolved || turnEnded || config) {
		return false
	}
	switch {
	case resolved:
		c.asks.resolved(e.Payload)
	case turnEnded:
		c.asks.turnEnded(e.Payload)
	}
	if !wanted && !config {
		c.hub.skip()
		return true
	}
	n, err := protocol.DecodeNotification(in.name, e.Payload)
	if err != nil {
		if guessed {
			return false
		}
		c.report(&c.stats.undecodable, slog.LevelWarn, "notification does not have the shape of its type", "method", in.name, "error", err)
		n = &protocol.UnknownNotification{Method: in.name, Params: bytes.Clone(e.Payload)}
	}
	if w, ok := n.(*protocol.ConfigWarningNotification); ok {
		c.config.note(w)
	}
	if !wanted {
		c.hub.skip()
		return true
	}
	c.hub.publish(Event{Method: in.name, Thread: c.threads.name(e.Thread()), Notification: n, size: int32(min(len(e.Payload), 1<<30))}, subs, e, in.droppable)
	return true
}

// report counts what is worth a look and logs it, but less and less often when it does not stop: a log is slower than a
// server that has gone mad.
func (c *Client) report(n *atomic.Uint64, level slog.Level, what string, args ...any) {
	if count := n.Add(1); count&(count-1) == 0 {
		c.opts.Logger.Log(context.Background(), level, what, append(args, "count", count)...)
	}
}

func (rc *receiver) Request(e *wire.Envelope) {
	c := (*Client)(rc)
	c.asks.ask(e)
}

func (rc *receiver) Reply(tag any, e *wire.Envelope, owned bool) {
	c := (*Client)(rc)
	r := tag.(*request)
	outcome := &Reply{Call: r.id, Method: r.method.Name}
	if e.Kind == wire.Failure {
		refusal := rc.refusal(r, e.Payload)
		if refusal.Code == CodeOverloaded && r.method.Effect == protocol.Reads && c.flight.retry(r, refusal) {
			return
		}
		outcome.Delivery, outcome.Err = Rejected, refusal
	} else {
		outcome.Delivery, outcome.raw, outcome.decode = Acknowledged, e.Payload, r.decode
		if !owned {
			outcome.raw = bytes.Clone(e.Payload)
		}
	}
	if !c.flight.answered(r, outcome) {
		rc.Stray(e, true)
	}
}

func (rc *receiver) refusal(r *request, payload []byte) *RPCError {
	var body struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(payload, &body); err != nil {
		body.Message = string(payload)
	}
	return &RPCError{Method: r.method.Name, Code: body.Code, Message: body.Message, Data: body.Data}
}

func (rc *receiver) Stray(e *wire.Envelope, ours bool) {
	c := (*Client)(rc)
	c.hub.skip()
	if ours {
		c.report(&c.stats.late, slog.LevelInfo, "response to a request that waits no longer", "id", string(e.ID))
		return
	}
	c.report(&c.stats.stray, slog.LevelWarn, "response with an id that was never used", "id", string(e.ID))
}

func (rc *receiver) TooLong(tag any, e *wire.Envelope, err *wire.LineTooLongError) {
	c := (*Client)(rc)
	c.report(&c.stats.tooLong, slog.LevelError, "line over the limit was skipped", "bytes", err.Size, "limit", err.Limit)
	switch {
	case tag != nil:
		r := tag.(*request)
		c.flight.answered(r, r.failure(Acknowledged, &LineTooLongError{Limit: err.Limit, Size: err.Size}))
	case e != nil && e.Kind == wire.Request:
		c.asks.refuseUnread(e)
	}
	c.hub.skip()
}

func (rc *receiver) Noise(line []byte, err error) {
	c := (*Client)(rc)
	c.report(&c.stats.noise, slog.LevelWarn, "line that is no frame", "error", err, "begin", string(line[:min(len(line), 200)]))
	c.hub.skip()
}

func (rc *receiver) Lost(err error) {
	c := (*Client)(rc)
	if cut := (*wire.CutLineError)(nil); errors.As(err, &cut) {
		c.report(&c.stats.noise, slog.LevelWarn, "the last line was cut", "bytes", cut.Size)
	}
	c.lost(err)
}

// idAndMethod reads the two members for the trace.
func idAndMethod(line []byte) (id, method string) {
	var e wire.Envelope
	if e.Scan(bytes.TrimSpace(line)) != nil {
		return "", ""
	}
	return string(e.ID), string(e.Method)
}
