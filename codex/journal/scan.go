package journal

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// Torn describes the tail that was dropped because a write did not reach the
// disk whole. The zero value says that nothing was dropped.
type Torn struct {
	Offset int64 // of the first dropped byte in the file
	Bytes  int64 // how many were dropped
}

// Dropped reports whether anything was.
func (t Torn) Dropped() bool { return t.Bytes > 0 }

func (t Torn) String() string {
	if !t.Dropped() {
		return "no torn tail"
	}
	return fmt.Sprintf("dropped a torn tail of %d bytes at offset %d", t.Bytes, t.Offset)
}

// CorruptError reports damage that a torn write cannot explain: records that
// had been acknowledged are unreadable though later ones are whole, or the
// file is no log at all. Nothing was changed.
type CorruptError struct {
	Path   string
	Offset int64 // of the first byte that does not fit
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal: %s is damaged at offset %d: %s; keep a copy and move it away to start afresh",
		e.Path, e.Offset, e.Reason)
}

// scan reads the whole content of a log and gives apply each record. seq is the
// last one's, and end is where the next belongs.
func scan(ctx context.Context, path string, b []byte, apply func(Record) error) (seq uint64, end int64, torn Torn, err error) {
	if len(b) < len(header) && (strings.HasPrefix(header, string(b)) || strings.HasPrefix(compacted, string(b))) {
		// Killed while the file was being made: it never held a record.
		return 0, 0, Torn{Bytes: int64(len(b))}, nil
	}
	if !bytes.HasPrefix(b, []byte(header)) && !bytes.HasPrefix(b, []byte(compacted)) {
		return 0, 0, Torn{}, &CorruptError{Path: path, Reason: "it does not begin as a journal of version 1 or 2"}
	}
	off := len(header)
	for off < len(b) {
		if seq%1024 == 0 && ctx.Err() != nil {
			return 0, 0, Torn{}, context.Cause(ctx)
		}
		r, n, ok := parseFrame(b[off:])
		if !ok {
			break
		}
		if want := seq + 1; r.Seq != want {
			return 0, 0, Torn{}, &CorruptError{Path: path, Offset: int64(off),
				Reason: fmt.Sprintf("found record %d where record %d belongs", r.Seq, want)}
		}
		seq = r.Seq
		if err := apply(r); err != nil {
			return 0, 0, Torn{}, fmt.Errorf("journal: record %d (%s) of %s: %w", r.Seq, r.Kind, path, err)
		}
		off += n
	}
	if r, at, ok := findFrame(b, off); ok {
		return 0, 0, Torn{}, &CorruptError{Path: path, Offset: int64(off),
			Reason: fmt.Sprintf("record %d is unreadable, but record %d at offset %d is whole", seq+1, r.Seq, at)}
	}
	if rest := int64(len(b) - off); rest > 0 {
		torn = Torn{Offset: int64(off), Bytes: rest}
	}
	return seq, int64(off), torn, nil
}

// findFrame looks for a whole record at any offset from off on. A record's text
// cannot pass for one, because a frame ends in a raw line feed and JSON text
// inside a frame has none.
func findFrame(b []byte, off int) (Record, int, bool) {
	for off < len(b) {
		if r, _, ok := parseFrame(b[off:]); ok {
			return r, off, true
		}
		off++
	}
	return Record{}, 0, false
}
