package codex

import (
	"context"

	"github.com/codexctl/codexctl/codex/protocol"
)

// Call sends a request and waits for its outcome. The error is an [*RPCError] or a [*DeliveryError]; [DeliveryOf] tells what
// is known of the request either way. When ctx ends, so does the wait, and nothing else: the request is neither taken back
// nor forgotten by the app-server, and the error says Unknown.
//
// A read that an overloaded app-server refuses (-32001) is sent again until its time is over; nothing else ever is.
func Call[P, R any](ctx context.Context, c *Client, m protocol.ClientMethod[P, R], params P, opts ...CallOption) (R, error) {
	var none R
	if err := ctx.Err(); err != nil {
		return none, &DeliveryError{Method: m.Name, Delivery: NotSent, Err: context.Cause(ctx)}
	}
	r, err := newRequest(c, m, params, opts)
	r.done = make(chan struct{})
	c.send(r, err)
	select {
	case <-r.done:
	case <-ctx.Done():
		return none, &DeliveryError{Method: m.Name, Delivery: Unknown, Err: context.Cause(ctx)}
	}
	r.outcome.settle()
	if r.outcome.Err != nil {
		return none, r.outcome.Err
	}
	return *r.outcome.Result.(*R), nil
}

// Dispatch queues a request and returns at once. Its outcome arrives as one [Reply] event, whatever happens, in wire order
// among the other events: in every subscription that takes replies, or in the one that [ReplyTo] names, unless that has
// ended and its Next has said so. The event may be there before Dispatch returns.
//
// Requests that one goroutine dispatches for one thread are written in that order. So are those for different threads as
// long as no slot has to be waited for; see Options.MaxInFlight.
func Dispatch[P, R any](c *Client, m protocol.ClientMethod[P, R], params P, opts ...CallOption) CallID {
	r, err := newRequest(c, m, params, opts)
	c.send(r, err)
	return r.id
}

// Withdraw takes back a request that [Dispatch] queued, if no byte of it was written yet, and reports whether it did. Its
// outcome is then NotSent with [ErrWithdrawn].
func (c *Client) Withdraw(id CallID) bool { return c.flight.withdraw(id) }

// finished hands an outcome to whom it is for.
func (c *Client) finished(r *request) {
	if r.done != nil {
		c.hub.skip()
		close(r.done)
		return
	}
	c.hub.reply(r.outcome, r.to, len(r.outcome.raw))
}
