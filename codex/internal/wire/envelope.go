package wire

import (
	"errors"
	"strconv"
)

// Kind says what a frame is.
type Kind uint8

// The four kinds of frame.
const (
	Notification Kind = iota + 1
	Request
	Result
	Failure
)

// Envelope holds the members of a frame that decide where it goes. All slices point into the line that was scanned.
type Envelope struct {
	Kind    Kind
	ID      []byte // raw JSON: an integer or a string; nil for a notification
	Method  []byte // unquoted
	Payload []byte // raw JSON of params, result or error; nil when absent
	Thread  []byte // params.threadId, or params.thread.id; nil when neither is a string
}

// Why a line is not a frame.
var (
	ErrNotObject = errors.New("not one JSON object")
	ErrNoMeaning = errors.New("neither request nor response nor notification")
	ErrBadID     = errors.New("id is neither a 64-bit integer nor a string")
)

// Scan fills e from a line. It looks only as deep as it must to find the members: what is inside a payload is for its
// decoder to judge. An error means that the line is not a frame.
func (e *Envelope) Scan(line []byte) error {
	*e = Envelope{}
	m := open(line, 0)
	params, result, failure, hasMethod := e.collect(&m)
	if !m.closed || space(line, m.at) != len(line) {
		return ErrNotObject
	}
	return e.settle(hasMethod, params, result, failure)
}

// ScanPrefix fills e from the beginning of a line that was too long to keep. 0.160.1 writes id and method before the
// payload, so they are usually found. The payload is cut.
func (e *Envelope) ScanPrefix(prefix []byte) error {
	*e = Envelope{}
	m := open(prefix, 0)
	params, result, failure, hasMethod := e.collect(&m)
	if !m.closed { // the member that the cut went through
		rest := prefix[min(m.at, len(prefix)):]
		switch string(m.name) {
		case "params":
			params = rest
		case "result":
			result = rest
		case "error":
			failure = rest
		}
	}
	return e.settle(hasMethod, params, result, failure)
}

func (e *Envelope) collect(m *members) (params, result, failure []byte, hasMethod bool) {
	for m.next() {
		value := m.value()
		if value == nil {
			break
		}
		switch string(m.name) {
		case "method":
			e.Method, hasMethod = unquote(value), value[0] == '"'
		case "params":
			params = value
		case "id":
			if string(value) != "null" {
				e.ID = value
			}
		case "result":
			result = value
		case "error":
			if string(value) != "null" {
				failure = value
			}
		}
	}
	return params, result, failure, hasMethod
}

func (e *Envelope) settle(hasMethod bool, params, result, failure []byte) error {
	switch {
	case hasMethod && e.ID != nil:
		e.Kind, e.Payload = Request, params
	case hasMethod:
		e.Kind, e.Payload = Notification, params
	case e.ID != nil && failure != nil:
		e.Kind, e.Payload = Failure, failure
	case e.ID != nil && result != nil:
		e.Kind, e.Payload = Result, result
	default:
		return ErrNoMeaning
	}
	if e.ID != nil && e.ID[0] != '"' {
		if _, err := strconv.ParseInt(string(e.ID), 10, 64); err != nil {
			return ErrBadID
		}
	}
	if hasMethod && len(params) > 0 && params[0] == '{' {
		e.Thread = ThreadOf(params)
	}
	return nil
}

// ThreadOf finds the thread that params speak of: threadId, or the id of a whole thread as thread/started carries it.
// It is nil when there is none.
func ThreadOf(params []byte) []byte {
	m := open(params, 0)
	for m.next() {
		switch string(m.name) {
		case "threadId":
			if v := m.value(); len(v) > 0 && v[0] == '"' {
				return unquote(v)
			}
			return nil
		case "thread":
			inner := open(params, m.at)
			for inner.next() {
				v := inner.value()
				if string(inner.name) == "id" && len(v) > 0 && v[0] == '"' {
					return unquote(v)
				}
			}
			return nil
		}
		m.value()
	}
	return nil
}
