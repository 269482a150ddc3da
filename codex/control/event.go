package control

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// EventFormat is the tag on every event line.
const EventFormat = "codexctl.event/1"

// Event is one line from an owner.
type Event struct {
	Seq     uint64 // from 1, one more with every line of a stream
	Run     string // names the owner's run; a new owner has a new one
	Payload Payload
}

// Payload is what an event says: one of the types of this package, or an
// UnknownPayload from a newer owner.
type Payload interface {
	// EventName is the event's name on the wire.
	EventName() string
}

// payloads makes an empty payload for each name.
var payloads = map[string]func() Payload{}

func register[T any, P interface {
	*T
	Payload
}]() {
	var zero P = new(T)
	payloads[zero.EventName()] = func() Payload { return P(new(T)) }
}

func init() {
	register[CommandResult]()
	register[OperationStarted]()
	register[OperationChanged]()
	register[OperationEnded]()
	register[GoalUpdated]()
	register[GoalCleared]()
	register[TurnStarted]()
	register[TurnEnded]()
	register[ItemStarted]()
	register[ItemCompleted]()
	register[TextDelta]()
	register[Usage]()
	register[ApprovalAsked]()
	register[ApprovalAnswered]()
	register[Warning]()
	register[Lagged]()
	register[StreamClosed]()
}

// UnknownPayload is an event this version has no type for, kept as it came.
type UnknownPayload struct {
	Name   string
	Fields jsontext.Value // the whole line
}

// EventName is the event's name on the wire.
func (u *UnknownPayload) EventName() string { return u.Name }

type envelope struct {
	Format string `json:"format"`
	Seq    uint64 `json:"seq"`
	Run    string `json:"run"`
	Event  string `json:"event"`
}

// Encode writes the event as one line, line feed included. The payload's fields
// stand beside the envelope's.
func (e Event) Encode() ([]byte, error) {
	if u, ok := e.Payload.(*UnknownPayload); ok {
		return append(append([]byte{}, u.Fields...), '\n'), nil
	}
	line, err := json.Marshal(envelope{Format: EventFormat, Seq: e.Seq, Run: e.Run, Event: e.Payload.EventName()})
	if err != nil {
		return nil, fmt.Errorf("control: encode event: %w", err)
	}
	payload, err := json.Marshal(e.Payload)
	if err != nil {
		return nil, fmt.Errorf("control: encode %s event: %w", e.Payload.EventName(), err)
	}
	if len(payload) > len("{}") {
		line = append(line[:len(line)-1], ',')
		line = append(line, payload[1:]...)
	}
	return append(line, '\n'), nil
}

// ParseEvent reads one line without its line feed.
func ParseEvent(line []byte) (Event, error) {
	var env envelope
	if err := json.Unmarshal(line, &env); err != nil {
		return Event{}, fmt.Errorf("control: the line is not an event: %w", err)
	}
	if env.Format != EventFormat {
		return Event{}, fmt.Errorf("control: the line has format %q, want %q", env.Format, EventFormat)
	}
	e := Event{Seq: env.Seq, Run: env.Run}
	empty, ok := payloads[env.Event]
	if !ok {
		e.Payload = &UnknownPayload{Name: env.Event, Fields: append(jsontext.Value{}, line...)}
		return e, nil
	}
	e.Payload = empty()
	if err := json.Unmarshal(line, e.Payload); err != nil {
		return Event{}, fmt.Errorf("control: decode %s event: %w", env.Event, err)
	}
	return e, nil
}
