package codex

import (
	"sync"

	"github.com/codexctl/codexctl/codex/protocol"
)

// Event is one thing that happened on the connection. Exactly one of Notification, Reply, Request, Answer and Lagged is set.
//
// Events are shared by all subscriptions: what they point to must not be changed.
type Event struct {
	// Seq numbers everything that came in, in wire order, together with the outcomes that came about without a frame, such
	// as a deadline. It grows within a subscription; the numbers between were for others.
	Seq uint64
	// Method is the wire method of the notification, the server request, that which was answered, or the call replied to.
	Method string
	// Thread is the native thread that the notification or the server request names; "" if it names none, and of replies.
	Thread string
	// Notification is the decoded notification. One that this version does not know, or that does not decode, is a
	// *protocol.UnknownNotification with its raw params.
	Notification protocol.Notification
	// Reply is the outcome of a [Dispatch].
	Reply *Reply
	// Request is a request of the server's that is being answered by its handler or refused for want of one.
	Request *ServerRequest
	// Answer is how such a request was settled.
	Answer *ServerAnswer
	// Lagged is how many events were dropped here because the subscriber was too slow. They can be made up for by reading
	// the thread back. None of them was a reply, a server request, its answer or another control event.
	Lagged uint64

	size int32
}

// Size is how many bytes the frame had on the wire that the event came from, and 0 if there was none. It bounds queues.
func (e Event) Size() int { return int(e.size) }

// CallID names a [Dispatch] of one client, from 1 in the order of the calls. Zero names none.
type CallID uint64

// Reply is the outcome of a [Dispatch]. There is exactly one for each.
type Reply struct {
	Call     CallID
	Method   string
	Delivery Delivery
	// Err is nil for a result, otherwise an [*RPCError] or a [*DeliveryError].
	Err error
	// Result points to the result type of the method that was dispatched; nil unless Err is nil.
	Result any

	once   sync.Once
	raw    []byte
	decode func([]byte) (any, error)
}

// settle decodes the result, on the goroutine of the first subscriber who sees it.
func (r *Reply) settle() {
	r.once.Do(func() {
		if r.decode == nil || r.Err != nil {
			return
		}
		result, err := r.decode(r.raw)
		r.raw, r.decode = nil, nil
		if err != nil {
			r.Err = &DeliveryError{Method: r.Method, Delivery: Acknowledged, Err: err}
			return
		}
		r.Result = result
	})
}

// ServerRequest is a request of the app-server's as a subscriber sees it. Its handler answers it; a [ServerAnswer] tells.
type ServerRequest struct {
	ID     string // raw JSON of its id, a number in 0.160.1
	Params any    // points to the params type of the method; nil if the method is unknown or the params do not decode
	Thread string // "" if it names none
}
