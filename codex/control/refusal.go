package control

import (
	"context"
	"errors"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/worker"
)

// refusalOf turns an error of the worker into the wire's.
func refusalOf(err error) *Refusal {
	var refusal *Refusal
	var delivery *codex.DeliveryError
	var rpc *codex.RPCError
	var stop *worker.StopError
	code := Failed
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.Is(err, worker.ErrStopUnknown):
		code = DeliveryUnknown // the goal may still be active
	case errors.As(err, &stop):
		code = Stopped // without an answer, but read back to be so
	case errors.Is(err, worker.ErrOwnerFinished):
		code = OwnerFinished
	case errors.Is(err, worker.ErrThreadHeld) && !errors.Is(err, worker.ErrOnlyPaused):
		code = ThreadHeld
	case errors.Is(err, worker.ErrBusy):
		code = Busy
	case errors.Is(err, worker.ErrNoTurn), errors.Is(err, worker.ErrComplete):
		code = TooLate
	case errors.Is(err, worker.ErrStopped):
		code = Stopped
	case errors.Is(err, worker.ErrBlankObjective):
		code = Malformed
	case errors.As(err, &rpc):
		code = Rejected
	case errors.As(err, &delivery):
		code = ofDelivery(delivery.Delivery)
	case errors.Is(err, worker.ErrDisconnected), errors.Is(err, worker.ErrClosed):
		code = Disconnected
	case errors.Is(err, context.Canceled):
		code = DeliveryUnknown // the owner ended while it waited
	}
	return &Refusal{Code: code, Reason: err.Error()}
}

func ofDelivery(d codex.Delivery) Code {
	switch d {
	case codex.NotSent:
		return NotSent
	case codex.Rejected:
		return Rejected
	default: // an acknowledgement that cannot be read is known to be there, its content is not
		return DeliveryUnknown
	}
}
