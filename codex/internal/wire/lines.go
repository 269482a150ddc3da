package wire

import (
	"bytes"
	"fmt"
	"io"
)

// DefaultMaxLine is the longest line that is read unless told otherwise, in bytes without the '\n'.
const DefaultMaxLine = 256 << 20

const (
	readSize   = 64 << 10 // one read; a Linux pipe holds as much
	firstChunk = 256 << 10
	maxChunk   = 4 << 20
	prefixKept = 4 << 10
	maxNoReads = 100
)

// LineTooLongError says that a line was longer than the limit. The line was skipped to its end and reading goes on.
type LineTooLongError struct {
	Limit  int    // bytes
	Size   int64  // bytes of the whole line, without the '\n'
	Prefix []byte // its first bytes, enough to find the id in
}

func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("line of %d bytes is over the limit of %d", e.Size, e.Limit)
}

// CutLineError says that the input ended inside a line. What is left of the line is not used.
type CutLineError struct {
	Size int64 // bytes that were read of the line
}

func (e *CutLineError) Error() string {
	return fmt.Sprintf("input ended inside a line, %d bytes after its start", e.Size)
}

// LineReader splits a byte stream at '\n'.
type LineReader struct {
	src        io.Reader
	max        int
	beforeRead func()
	buf        []byte
	start, end int // unread part of buf
	scanned    int // part of the unread bytes known to hold no '\n'
}

// NewLineReader reads lines of at most max bytes (0: [DefaultMaxLine]) from src. Before every read that may block it
// calls beforeRead, if not nil: all complete lines read so far have been returned then.
func NewLineReader(src io.Reader, max int, beforeRead func()) *LineReader {
	if max <= 0 {
		max = DefaultMaxLine
	}
	if beforeRead == nil {
		beforeRead = func() {}
	}
	return &LineReader{src: src, max: max, beforeRead: beforeRead, buf: make([]byte, readSize)}
}

// Next returns the next line without its '\n' and without one '\r' before it. The bytes are good until the next call,
// unless owned is true: then they are the caller's. After a [LineTooLongError] the next call goes on with the line
// behind it; every other error is final, io.EOF at the end, and a [CutLineError] if the end came inside a line.
func (r *LineReader) Next() (line []byte, owned bool, err error) {
	for {
		unread := r.buf[r.start:r.end]
		if i := bytes.IndexByte(unread[r.scanned:], '\n'); i >= 0 {
			line = unread[:r.scanned+i]
			r.start += r.scanned + i + 1
			r.scanned = 0
			if len(line) > r.max {
				return nil, false, &LineTooLongError{Limit: r.max, Size: int64(len(line)), Prefix: keep(line)}
			}
			return trimCR(line), false, nil
		}
		r.scanned = len(unread)
		if len(unread) == len(r.buf) {
			return r.long()
		}
		if r.start > 0 {
			copy(r.buf, unread)
			r.start, r.end = 0, len(unread)
		}
		if err := r.fill(); err != nil {
			return nil, false, r.final(err, int64(r.end-r.start))
		}
	}
}

// long reads on in a line that fills the whole buffer. It gathers chunks and joins them once, so that the peak is twice
// the line and not the three times of a doubling buffer.
func (r *LineReader) long() ([]byte, bool, error) {
	var (
		chunks [][]byte
		cur    = make([]byte, 0, firstChunk)
		size   int64
		prefix []byte
	)
	add := func(p []byte) {
		size += int64(len(p))
		if size > int64(r.max) {
			if prefix == nil {
				prefix = keep(first(chunks, cur))
				chunks, cur = nil, nil
			}
			return
		}
		for len(p) > 0 {
			if len(cur) == cap(cur) {
				chunks = append(chunks, cur)
				cur = make([]byte, 0, min(2*cap(cur), maxChunk))
			}
			n := min(len(p), cap(cur)-len(cur))
			cur = append(cur, p[:n]...)
			p = p[n:]
		}
	}
	for {
		part := r.buf[r.start:r.end]
		i := bytes.IndexByte(part, '\n')
		if i < 0 {
			add(part)
			r.start, r.end, r.scanned = 0, 0, 0
			if err := r.fill(); err != nil {
				return nil, false, r.final(err, size)
			}
			continue
		}
		add(part[:i])
		r.start += i + 1
		r.scanned = 0
		if size > int64(r.max) {
			return nil, false, &LineTooLongError{Limit: r.max, Size: size, Prefix: prefix}
		}
		line := make([]byte, 0, size)
		for _, c := range append(chunks, cur) {
			line = append(line, c...)
		}
		return trimCR(line), true, nil
	}
}

func (r *LineReader) fill() error {
	r.beforeRead()
	for range maxNoReads {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if n > 0 {
			return nil // an error that came with data comes again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

func (r *LineReader) final(err error, pending int64) error {
	r.start, r.end, r.scanned = 0, 0, 0
	if err == io.EOF && pending > 0 {
		return &CutLineError{Size: pending}
	}
	return err
}

func first(chunks [][]byte, cur []byte) []byte {
	if len(chunks) > 0 {
		return chunks[0]
	}
	return cur
}

func keep(line []byte) []byte { return bytes.Clone(line[:min(len(line), prefixKept)]) }

func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}
