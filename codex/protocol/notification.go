package protocol

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Notification is the params of a server notification. The types that implement
// it are pointers to generated structs, and [*UnknownNotification].
type Notification interface {
	// NotificationMethod returns the wire name, such as "turn/started".
	NotificationMethod() string
}

// UnknownNotification is a notification of a method that this package does not
// know. A newer Codex may send it; it is not an error.
type UnknownNotification struct {
	Method string
	Params jsontext.Value // nil when the message had none
}

// NotificationMethod returns the wire name.
func (n *UnknownNotification) NotificationMethod() string { return n.Method }

// DecodeNotification decodes the params of a server notification into the type
// of its method. For a method that is not in the table it returns
// [*UnknownNotification] and no error. Params that are missing give the zero
// value. The params are not kept. An error means that the params of a known
// method do not have the shape of its type.
func DecodeNotification(method string, params []byte) (Notification, error) {
	n := newNotification(method)
	if n == nil {
		return &UnknownNotification{Method: method, Params: jsontext.Value(params).Clone()}, nil
	}
	if len(params) == 0 {
		return n, nil
	}
	if err := decodeAll(params, n.(decoder)); err != nil {
		return nil, fmt.Errorf("decode params of %s: %w", method, err)
	}
	return n, nil
}
