package codex

import (
	"fmt"
	"strings"
	"time"

	"github.com/codexctl/codexctl/codex/internal/wire"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/go-json-experiment/json"
)

// request is one call from the moment it was asked for to its outcome. What changes in it is guarded by flight.mu.
type request struct {
	id       CallID
	method   *protocol.Method
	frame    *wire.Frame
	thread   string // that the params name, "" if none
	control  bool
	deadline time.Time
	decode   func([]byte) (any, error)

	// Whom the outcome is for: a caller who waits on done, or subscriptions.
	done chan struct{}
	to   *Subscription // nil: all that take replies

	phase   phase
	wireID  uint64 // of the last write
	timer   *time.Timer
	rest    *time.Timer
	retries int
	looks   int       // at its passed deadline
	refusal *RPCError // of a read that is tried again
	outcome *Reply    // set once, before the phase finished is seen
}

type phase uint8

const (
	waiting  phase = iota // for a slot
	admitted              // has a slot, to be written next
	writing               // some of its bytes may be on their way
	sent                  // waits for the response
	resting               // a refused read that is to be sent again
	finished
)

// isControl tells the methods that have slots of their own, so that a client that is busy reading can still be stopped.
func isControl(method string) bool {
	return strings.HasPrefix(method, "thread/goal/") || method == "turn/interrupt"
}

// slowMethods start threads or turns, or read histories, which takes Codex longer on a long thread.
var slowMethods = map[string]bool{
	"initialize": true, "thread/start": true, "thread/resume": true, "thread/fork": true, "turn/start": true,
	"review/start": true, "thread/read": true, "thread/list": true, "thread/turns/list": true, "thread/items/list": true,
	"thread/timeline/list": true, "thread/search": true, "thread/searchOccurrences": true, "thread/unarchive": true,
}

// CallOption changes one [Call] or [Dispatch].
type CallOption interface{ apply(*request) }

type optionFunc func(*request)

func (f optionFunc) apply(r *request) { f(r) }

// WithTimeout replaces the time that the client's options give the request, counted from the call.
func WithTimeout(d time.Duration) CallOption {
	return optionFunc(func(r *request) { r.deadline = time.Now().Add(d) })
}

// ReplyTo sends the outcome of a [Dispatch] to s alone, whether or not s takes replies otherwise.
func ReplyTo(s *Subscription) CallOption {
	return optionFunc(func(r *request) { r.to = s })
}

func (r *request) failure(d Delivery, err error) *Reply {
	return &Reply{Call: r.id, Method: r.method.Name, Delivery: d, Err: &DeliveryError{Method: r.method.Name, Delivery: d, Err: err}}
}

// newRequest lays the request out for the wire. The params are copied: the caller may change them afterwards.
func newRequest[P, R any](c *Client, m protocol.ClientMethod[P, R], params P, opts []CallOption) (*request, error) {
	timeout := c.opts.CallTimeout
	if slowMethods[m.Name] {
		timeout = c.opts.SlowCallTimeout
	}
	r := &request{
		method:   m.Method,
		control:  isControl(m.Name),
		deadline: time.Now().Add(timeout),
		decode: func(raw []byte) (any, error) {
			result := new(R)
			if err := protocol.Unmarshal(raw, result); err != nil {
				return nil, err
			}
			return result, nil
		},
	}
	for _, o := range opts {
		o.apply(r)
	}
	payload, err := json.Marshal(params)
	if err == nil {
		err = wire.CheckDepth(payload)
	}
	if err != nil {
		return r, fmt.Errorf("encode params: %w", err)
	}
	r.thread = string(wire.ThreadOf(payload))
	r.frame = wire.NewFrame(m.Name, payload)
	return r, nil
}
