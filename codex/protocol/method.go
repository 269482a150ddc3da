package protocol

import "iter"

// Direction says who sends a method and whether it is answered.
type Direction int

// The four directions of the protocol.
const (
	DirClientRequest      Direction = iota + 1 // client to server, answered
	DirServerRequest                           // server to client, to be answered
	DirServerNotification                      // server to client, not answered
	DirClientNotification                      // client to server, not answered
)

// String returns the name that the schema gives the direction.
func (d Direction) String() string {
	switch d {
	case DirClientRequest:
		return "client request"
	case DirServerRequest:
		return "server request"
	case DirServerNotification:
		return "server notification"
	case DirClientNotification:
		return "client notification"
	}
	return "no direction"
}

// Effect says whether a client request may be sent again after a refusal.
type Effect int

// The effects. Mutates is the zero value: what is not known to be harmless is
// not repeated. Codex does not publish this; it is derived from the names, with
// a table of exceptions in the generator.
const (
	Mutates Effect = iota // changes threads, files, accounts or processes
	Reads                 // changes nothing that a client can see
)

// String returns "mutates" or "reads".
func (e Effect) String() string {
	if e == Reads {
		return "reads"
	}
	return "mutates"
}

// Method is one row of the method table.
type Method struct {
	Name         string // on the wire, such as "thread/goal/set"
	Params       string // Go type of the params, "" when there are none
	Result       string // Go type of the result, "" for notifications
	Direction    Direction
	Experimental bool   // Codex refuses it, or hides it from its stable schema, without the experimentalApi capability
	Unstable     bool   // Codex's own description calls it experimental or unstable
	Deprecated   bool   // Codex's own description says so
	Effect       Effect // for client requests; Mutates for all others
}

// ClientMethod ties a client request to the types of its params and result.
// Values exist for all of them, named after the method with the suffix Method.
type ClientMethod[P, R any] struct{ *Method }

// ServerMethod ties a server request to the types of its params and result.
// Values exist for all of them, named after the method with the suffix Request.
type ServerMethod[P, R any] struct{ *Method }

// NoParams is the params type of a request that takes none. It is written as
// null, which Codex accepts just as well as leaving the params out.
type NoParams struct{}

// MarshalJSON writes null.
func (NoParams) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// UnmarshalJSON accepts anything.
func (*NoParams) UnmarshalJSON([]byte) error { return nil }

type methodKey struct {
	direction Direction
	name      string
}

var methodIndex = func() map[methodKey]*Method {
	index := make(map[methodKey]*Method, len(methodTable))
	for i := range methodTable {
		m := &methodTable[i]
		index[methodKey{m.Direction, m.Name}] = m
	}
	return index
}()

// LookupMethod returns the method with the wire name in the direction. The
// result must not be changed.
func LookupMethod(dir Direction, name string) (*Method, bool) {
	m, ok := methodIndex[methodKey{dir, name}]
	return m, ok
}

// Methods iterates over all methods, sorted by direction and name. They must
// not be changed.
func Methods() iter.Seq[*Method] {
	return func(yield func(*Method) bool) {
		for i := range methodTable {
			if !yield(&methodTable[i]) {
				return
			}
		}
	}
}
