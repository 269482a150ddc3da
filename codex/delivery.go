package codex

import (
	"errors"
	"fmt"
)

// Delivery says what is known about a request's way to the app-server.
type Delivery uint8

// What is known about a request.
const (
	// NotSent: no byte of it was written. It can be sent again without a second thought.
	NotSent Delivery = iota + 1
	// Acknowledged: a result came. If the result could not be decoded it is drift to report, not a lost reply.
	Acknowledged
	// Rejected: a JSON-RPC error came. The request did nothing that Codex knows of.
	Rejected
	// Unknown: bytes were written and no answer is known. It may have taken effect and still may: read back, do not repeat.
	Unknown
)

// String returns the name of the constant in lower case, with spaces.
func (d Delivery) String() string {
	switch d {
	case NotSent:
		return "not sent"
	case Acknowledged:
		return "acknowledged"
	case Rejected:
		return "rejected"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("Delivery(%d)", uint8(d))
}

// DeliveryError says that a request has no usable result, and what is known of its way all the same.
type DeliveryError struct {
	Method   string
	Delivery Delivery // NotSent, Unknown, or Acknowledged with a result that does not decode
	Err      error    // why
}

func (e *DeliveryError) Error() string {
	switch e.Delivery {
	case NotSent:
		return fmt.Sprintf("%s was not sent: %v", e.Method, e.Err)
	case Acknowledged:
		return fmt.Sprintf("%s was acknowledged, but its result cannot be read: %v", e.Method, e.Err)
	}
	return fmt.Sprintf("%s was sent and its outcome is unknown: %v", e.Method, e.Err)
}

func (e *DeliveryError) Unwrap() error { return e.Err }

// RPCError is the app-server's refusal of a request. 0.160.1 uses the code -32600 for almost all of them, so that only the
// message tells them apart.
type RPCError struct {
	Method  string `json:"-"`
	Code    int64  `json:"code"`
	Message string `json:"message"`
	Data    []byte `json:"-"` // raw JSON, nil if there was none
}

// CodeOverloaded is the refusal of an app-server with too many requests in flight: nothing was done.
const CodeOverloaded = -32001

func (e *RPCError) Error() string {
	return fmt.Sprintf("%s was refused: %s (code %d)", e.Method, e.Message, e.Code)
}

// DeliveryOf returns what an error of [Call] says about the request: [Acknowledged] for nil, and [NotSent] for an error
// that did not come from a request.
func DeliveryOf(err error) Delivery {
	var refused *RPCError
	var delivery *DeliveryError
	switch {
	case err == nil:
		return Acknowledged
	case errors.As(err, &refused):
		return Rejected
	case errors.As(err, &delivery):
		return delivery.Delivery
	}
	return NotSent
}

// Why a request or a subscription ended without the server's doing.
var (
	// ErrClosed: the client was closed by its user.
	ErrClosed = errors.New("client is closed")
	// ErrDeadline: no answer came within the request's time.
	ErrDeadline = errors.New("no answer in time")
	// ErrWithdrawn: the request was taken back before it was written.
	ErrWithdrawn = errors.New("withdrawn before it was written")
	// ErrSubscriptionClosed: Next was called after Close of the subscription.
	ErrSubscriptionClosed = errors.New("subscription is closed")
)

// LostError says that the connection to the app-server ended without being asked to.
type LostError struct {
	Process ProcessID
	Err     error // an [*ExitError] when the process ended; what broke the connection otherwise
}

func (e *LostError) Error() string {
	return fmt.Sprintf("connection to the app-server lost: %v", e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// LineTooLongError says that a line from the app-server was over Options.MaxLine and was skipped.
type LineTooLongError struct {
	Limit int   // bytes
	Size  int64 // bytes
}

func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("line of %d bytes is over the limit of %d (Options.MaxLine)", e.Size, e.Limit)
}
