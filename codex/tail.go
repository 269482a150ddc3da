package codex

import (
	"bytes"
	"strings"
	"sync"
)

const tailSize = 8 << 10

// tail keeps the last bytes that were written to it.
type tail struct {
	mu    sync.Mutex
	buf   []byte
	total uint64
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += uint64(len(p))
	if len(p) >= tailSize {
		t.buf = append(t.buf[:0], p[len(p)-tailSize:]...)
		return len(p), nil
	}
	if over := len(t.buf) + len(p) - tailSize; over > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[over:])]
	}
	t.buf = append(t.buf, p...)
	return len(p), nil
}

// written is how many bytes came in all.
func (t *tail) written() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// String is the kept text, without a line that was cut at its beginning and without terminal colours.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.buf
	if t.total > uint64(len(text)) {
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
	}
	return strings.TrimSpace(plain(text))
}

// plain drops terminal colour sequences: 0.160.1 colours its log lines even when stderr is a pipe.
func plain(text []byte) string {
	var out strings.Builder
	for len(text) > 0 {
		i := bytes.Index(text, []byte("\x1b["))
		if i < 0 {
			break
		}
		out.Write(text[:i])
		text = text[i+2:]
		end := bytes.IndexFunc(text, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			text = nil
			break
		}
		text = text[end+1:]
	}
	out.Write(text)
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}
