package worker_test

import (
	"bytes"
	"encoding/json"
	"sync"
)

// wiretap counts what a client writes, from its trace.
type wiretap struct {
	mu     sync.Mutex
	rest   []byte
	frames []frame
	onSent func(frame) // called with each outbound frame; nil is nobody
}

// frame is one outbound frame as the trace tells it.
type frame struct {
	Method string `json:"method"`
	Params struct {
		Objective string `json:"objective"`
		Status    string `json:"status"`
	} `json:"params"`
}

// Write takes lines of a trace.
func (w *wiretap) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		w.rest = append([]byte(nil), rest...)
		var entry struct {
			Dir   string          `json:"dir"`
			Frame json.RawMessage `json:"frame"`
		}
		var f frame
		if json.Unmarshal(line, &entry) != nil || entry.Dir != "out" || json.Unmarshal(entry.Frame, &f) != nil {
			continue
		}
		w.frames = append(w.frames, f)
		if w.onSent != nil {
			w.onSent(f)
		}
	}
}

// count returns how many frames of the method were written, with the objective if
// one is given.
func (w *wiretap) count(method, objective string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, f := range w.frames {
		if f.Method == method && (objective == "" || f.Params.Objective == objective) {
			n++
		}
	}
	return n
}

// notify has f called with each outbound frame from now on.
func (w *wiretap) notify(f func(frame)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onSent = f
}
