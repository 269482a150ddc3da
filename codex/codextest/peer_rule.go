package codextest

import (
	"encoding/json"
	"time"
)

// Rule says what a [Peer] does when it receives a method. What the chained calls add is done in their order. If several rules
// fit, the first one counts; a rule with a number fits only that occurrence of the method.
type Rule struct {
	Method string    `json:"method"`
	Number int       `json:"number,omitempty"` // 0: every time
	Acts   []peerAct `json:"acts"`
}

type peerAct struct {
	Do     string          `json:"do"`
	Value  json.RawMessage `json:"value,omitempty"`
	Code   int64           `json:"code,omitempty"`
	Text   string          `json:"text,omitempty"`
	Method string          `json:"method,omitempty"`
	Count  int             `json:"count,omitempty"`
	Pause  time.Duration   `json:"pause,omitempty"`
}

// On begins a rule for a method. Without more it is silent: the request gets no answer.
func On(method string) *Rule { return &Rule{Method: method} }

// Nth restricts the rule to the n-th time that the method is received, counted from 1.
func (r *Rule) Nth(n int) *Rule {
	r.Number = n
	return r
}

func (r *Rule) then(a peerAct) *Rule {
	r.Acts = append(r.Acts, a)
	return r
}

// Answer sends a result. Twice in one rule, it is sent twice.
func (r *Rule) Answer(result any) *Rule { return r.then(peerAct{Do: "answer", Value: raw(result)}) }

// AnswerAs sends a result under another id, given as JSON.
func (r *Rule) AnswerAs(id string, result any) *Rule {
	return r.then(peerAct{Do: "answer", Text: id, Value: raw(result)})
}

// Refuse sends an error.
func (r *Rule) Refuse(code int64, message string) *Rule {
	return r.then(peerAct{Do: "refuse", Code: code, Text: message})
}

// Silence does nothing, and says so in the test.
func (r *Rule) Silence() *Rule { return r }

// Hold keeps the rest of the rule back until [Peer.Release] is called with the point, or a method of that name is received.
// Other requests are answered in the meantime: so answers come late, or in another order.
func (r *Rule) Hold(point string) *Rule { return r.then(peerAct{Do: "hold", Text: point}) }

// Reach does nothing but close [Peer.Reached] of the point.
func (r *Rule) Reach(point string) *Rule { return r.then(peerAct{Do: "reach", Text: point}) }

// Notify sends a notification.
func (r *Rule) Notify(method string, params any) *Rule {
	return r.then(peerAct{Do: "notify", Method: method, Value: raw(params)})
}

// Flood sends a notification count times. "{{n}}" anywhere in the params becomes the number, from 0.
func (r *Rule) Flood(count int, method string, params any) *Rule {
	return r.then(peerAct{Do: "flood", Count: count, Method: method, Value: raw(params)})
}

// AskFor sends a request of the server's.
func (r *Rule) AskFor(method string, params any) *Rule {
	return r.then(peerAct{Do: "ask", Method: method, Value: raw(params)})
}

// Raw writes bytes as they are. "{{id}}" in them becomes the id of the request. The line end is the caller's.
func (r *Rule) Raw(text string) *Rule { return r.then(peerAct{Do: "raw", Text: text}) }

// CutAnswer writes the first half of an answer, without an end of line.
func (r *Rule) CutAnswer(result any) *Rule { return r.then(peerAct{Do: "cut", Value: raw(result)}) }

// StopReading reads nothing more until the point is released with [Peer.Release].
func (r *Rule) StopReading(point string) *Rule { return r.then(peerAct{Do: "stop", Text: point}) }

// Stderr writes a text to stderr count times. A peer without a process of its own has none.
func (r *Rule) Stderr(text string, count int) *Rule {
	return r.then(peerAct{Do: "stderr", Text: text, Count: count})
}

// Pause waits. The rest of the rule, and all that the client sends, wait with it.
func (r *Rule) Pause(d time.Duration) *Rule { return r.then(peerAct{Do: "pause", Pause: d}) }

// HangUp ends the peer in order, as closing its input does.
func (r *Rule) HangUp() *Rule { return r.then(peerAct{Do: "hangup"}) }

// Die ends the peer at once: a peer with a process of its own kills that with SIGKILL.
func (r *Rule) Die() *Rule { return r.then(peerAct{Do: "die"}) }
