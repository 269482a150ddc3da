package codex

import (
	"bytes"
	"errors"

	"github.com/codexctl/codexctl/codex/internal/wire"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient accepts what a strict reader would trip over without need.
var lenient = jsontext.AllowDuplicateNames(true)

// receiver is the client on its reading goroutine.
type receiver Client

func (rc *receiver) Notification(e *wire.Envelope) {
	c := (*Client)(rc)
	m, known := protocol.LookupMethod(protocol.DirServerNotification, string(e.Method))
	var method string
	if known {
		method = m.Name
	} else {
		method = string(e.Method)
		c.stats.unknown.Add(1)
		c.opts.Logger.Debug("unknown notification", "method", method)
	}
	if method == protocol.NotifyServerRequestResolved {
		c.asks.resolved(e.Payload)
	}
	subs, wanted := c.hub.wanted(method, e.Thread)
	if !wanted {
		c.hub.skip()
		return
	}
	n, err := protocol.DecodeNotification(method, e.Payload)
	if err != nil {
		c.stats.undecodable.Add(1)
		c.opts.Logger.Warn("notification does not have the shape of its type", "method", method, "error", err)
		n = &protocol.UnknownNotification{Method: method, Params: bytes.Clone(e.Payload)}
	}
	c.hub.publish(Event{Method: method, Notification: n, size: int32(min(len(e.Payload), 1<<30))}, subs, e.Thread, droppable(method))
}

// droppable tells the events that a slow subscriber can make up for by reading back. The others are control events: they
// say that something began or ended, and nothing else says it again.
func droppable(method string) bool {
	switch method {
	case protocol.NotifyTurnStarted, protocol.NotifyTurnCompleted, protocol.NotifyThreadGoalUpdated, protocol.NotifyThreadGoalCleared,
		protocol.NotifyError, protocol.NotifyItemCompleted, protocol.NotifyServerRequestResolved:
		return false
	}
	return true
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
		Code    int64          `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(payload, &body, lenient); err != nil {
		body.Message = string(payload)
	}
	return &RPCError{Method: r.method.Name, Code: body.Code, Message: body.Message, Data: body.Data}
}

func (rc *receiver) Stray(e *wire.Envelope, ours bool) {
	c := (*Client)(rc)
	c.hub.skip()
	if ours {
		c.stats.late.Add(1)
		c.opts.Logger.Info("response to a request that waits no longer", "id", string(e.ID))
		return
	}
	c.stats.stray.Add(1)
	c.opts.Logger.Warn("response with an id that was never used", "id", string(e.ID))
}

func (rc *receiver) TooLong(tag any, e *wire.Envelope, err *wire.LineTooLongError) {
	c := (*Client)(rc)
	c.stats.tooLong.Add(1)
	c.opts.Logger.Error("line over the limit was skipped", "bytes", err.Size, "limit", err.Limit)
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
	c.stats.noise.Add(1)
	c.opts.Logger.Warn("line that is no frame", "error", err, "begin", string(line[:min(len(line), 200)]))
	c.hub.skip()
}

func (rc *receiver) Lost(err error) {
	c := (*Client)(rc)
	if cut := (*wire.CutLineError)(nil); errors.As(err, &cut) {
		c.stats.noise.Add(1)
		c.opts.Logger.Warn("the last line was cut", "bytes", cut.Size)
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
