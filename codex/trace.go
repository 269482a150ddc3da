package codex

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

const (
	traceBacklog = 16 << 20 // bytes of frames that wait for the trace's writer
	traceGrace   = time.Second
)

// tracer writes frames to Options.Trace, on a goroutine of its own: one that is slow must not hold up the connection.
type tracer struct {
	out   io.Writer
	limit int // bytes of frames that may wait
	stats *counters
	mask  masker // the writing goroutine only

	mu      sync.Mutex
	queue   []traced
	size    int
	seq     uint64
	lost    uint64
	closed  bool
	more    chan struct{}
	drained chan struct{}
}

type traced struct {
	seq  uint64
	at   time.Time
	sent bool
	line []byte
	lost uint64 // frames left out before this one
}

// traceLine is one line of the trace.
type traceLine struct {
	Seq   uint64          `json:"seq"`
	At    time.Time       `json:"at"`
	Dir   string          `json:"dir"`             // "in" from the app-server, "out" to it
	Frame json.RawMessage `json:"frame,omitempty"` // the frame, secrets masked
	Text  string          `json:"text,omitempty"`  // instead of it, a line that is not JSON
	Lost  uint64          `json:"lost,omitempty"`  // how many frames are missing in front of this one
}

// newTracer returns nil without a writer; a nil tracer does nothing.
func newTracer(out io.Writer, stats *counters) *tracer {
	if out == nil {
		return nil
	}
	t := &tracer{out: out, limit: traceBacklog, stats: stats, more: make(chan struct{}, 1), drained: make(chan struct{})}
	go t.run()
	return t
}

func (t *tracer) frame(line []byte, sent bool) {
	if t == nil || len(line) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	if t.closed || t.size > 0 && t.size+len(line) > t.limit {
		t.lost++
		t.stats.blind.Add(1)
		return
	}
	t.queue = append(t.queue, traced{seq: t.seq, at: time.Now(), sent: sent, line: append([]byte(nil), line...), lost: t.lost})
	t.size += len(line)
	t.lost = 0
	t.wakeLocked()
}

func (t *tracer) wakeLocked() {
	select {
	case t.more <- struct{}{}:
	default:
	}
}

func (t *tracer) run() {
	defer close(t.drained)
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	for {
		t.mu.Lock()
		batch, closed := t.queue, t.closed
		t.queue = nil
		t.mu.Unlock()
		for _, f := range batch {
			t.write(enc, f)
			t.mu.Lock()
			t.size -= len(f.line)
			t.mu.Unlock()
		}
		if len(batch) == 0 {
			if closed {
				return
			}
			<-t.more
		}
	}
}

func (t *tracer) write(enc *json.Encoder, f traced) {
	l := traceLine{Seq: f.seq, At: f.at.UTC(), Dir: "in", Lost: f.lost}
	if f.sent {
		l.Dir = "out"
	}
	var ok bool
	if l.Frame, ok = t.mask.frame(f.line, f.sent); !ok {
		l.Frame, l.Text = nil, maskText(string(f.line))
	}
	if enc.Encode(l) != nil {
		t.stats.blind.Add(1)
	}
}

// close writes what is queued. A writer that blocks is left behind after a moment.
func (t *tracer) close() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.closed = true
	t.wakeLocked()
	t.mu.Unlock()
	select {
	case <-t.drained:
	case <-time.After(traceGrace):
	}
}
