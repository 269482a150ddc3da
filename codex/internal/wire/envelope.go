package wire

import (
	"bytes"
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

	guessed bool // by guess, not by Scan
	thread  []byte
	looked  bool // for thread
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
	return nil
}

// Thread is params.threadId, or params.thread.id; nil when neither is a string.
func (e *Envelope) Thread() []byte {
	if !e.looked {
		e.looked = true
		if e.Method != nil {
			e.thread = ThreadOf(e.Payload)
		}
	}
	return e.thread
}

const (
	guessHead   = `{"method":"`
	guessParams = `,"params":{`
	guessTail   = `},"emittedAtMs":`
)

// guess fills e from a line that looks like a notification as 0.160.1 writes them, by its two ends and without a look at
// the params. If these turn out to be one JSON object, Scan would have come to the same; otherwise it has to be asked.
func (e *Envelope) guess(line []byte) bool {
	if len(line) < len(guessHead) || string(line[:len(guessHead)]) != guessHead {
		return false
	}
	rest := line[len(guessHead):]
	n := bytes.IndexByte(rest, '"')
	if n < 0 || !bytes.HasPrefix(rest[n+1:], []byte(guessParams)) || bytes.IndexByte(rest[:n], '\\') >= 0 {
		return false
	}
	params := rest[n+len(guessParams):] // from the '{' on
	end := len(params) - 1
	if end < 0 || params[end] != '}' {
		return false
	}
	for end > 0 && '0' <= params[end-1] && params[end-1] <= '9' {
		end--
	}
	if end == len(params)-1 || end < len(guessTail) || string(params[end-len(guessTail):end]) != guessTail {
		return false
	}
	*e = Envelope{Kind: Notification, Method: rest[:n], Payload: params[:end-len(guessTail)+1], guessed: true}
	return true
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
