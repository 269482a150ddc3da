package worker_test

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"
)

// wiretap knows what a client wrote, and when turns ended, from its trace.
type wiretap struct {
	mu     sync.Mutex
	rest   []byte
	frames []frame              // outbound
	ends   map[string]time.Time // by turn, when its end was read
	before map[string]time.Time // by turn, when the end before its start was read
	last   time.Time            // of the ends
	onSent func(frame)          // called with each outbound frame; nil is nobody
}

// frame is one frame as the trace tells it.
type frame struct {
	at     time.Time
	Method string `json:"method"`
	Params struct {
		Objective string `json:"objective"`
		Status    string `json:"status"`
		Turn      struct {
			ID string `json:"id"`
		} `json:"turn"`
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
			At    time.Time       `json:"at"`
			Dir   string          `json:"dir"`
			Frame json.RawMessage `json:"frame"`
		}
		var f frame
		if json.Unmarshal(line, &entry) != nil || json.Unmarshal(entry.Frame, &f) != nil {
			continue
		}
		f.at = entry.At
		if entry.Dir == "in" {
			w.readLocked(f)
			continue
		}
		w.frames = append(w.frames, f)
		if w.onSent != nil {
			w.onSent(f)
		}
	}
}

func (w *wiretap) readLocked(f frame) {
	if w.ends == nil {
		w.ends, w.before = map[string]time.Time{}, map[string]time.Time{}
	}
	switch turn := f.Params.Turn.ID; f.Method {
	case "turn/started":
		w.before[turn] = w.last
	case "turn/completed":
		w.ends[turn], w.last = f.at, f.at
	}
}

// written returns when the set of an objective was written.
func (w *wiretap) written(objective string) (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.frames {
		if f.Method == "thread/goal/set" && f.Params.Objective == objective {
			return f.at, true
		}
	}
	return time.Time{}, false
}

// end returns when the end of a turn was read, or of the one before it.
func (w *wiretap) end(turn string, previous bool) (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ends := w.ends
	if previous {
		ends = w.before
	}
	at := ends[turn]
	return at, !at.IsZero()
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
