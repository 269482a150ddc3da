package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// header is the first line of every log. A change that older code could not
// read gets a new number.
const header = "codexctl-journal/1\n"

// compacted is the first line of a log that begins with the snapshot of a State.
const compacted = "codexctl-journal/2\n"

// MaxRecord is the greatest size of one record in bytes, as JSON.
const MaxRecord = 64 << 20

// frame: eight hex digits of length, eight of CRC-32C, the JSON, a line feed.
// Length and sum cover the JSON alone; the JSON holds no raw line feed.
const (
	frameHead = len("00000000 00000000 ")
	frameMin  = frameHead + len("{}") + len("\n")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Record is one entry of a log.
type Record struct {
	Seq  uint64          `json:"seq"`            // from 1, without gaps; given by Append
	Kind string          `json:"kind"`           // the caller's word, never empty
	Data json.RawMessage `json:"data,omitempty"` // the caller's JSON value; nil when there is none
}

// New makes a record of kind with v as its data. A nil v leaves the data out.
func New(kind string, v any) (Record, error) {
	if v == nil {
		return Record{Kind: kind}, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return Record{}, fmt.Errorf("journal: encode %s record: %w", kind, err)
	}
	return Record{Kind: kind, Data: data}, nil
}

// Decode reads the record's data into v.
func (r Record) Decode(v any) error {
	if err := json.Unmarshal(r.Data, v); err != nil {
		return fmt.Errorf("journal: decode %s record %d: %w", r.Kind, r.Seq, err)
	}
	return nil
}

// appendFrame writes the frame of r behind dst.
func appendFrame(dst []byte, r Record) ([]byte, error) {
	if r.Kind == "" {
		return dst, errors.New("journal: a record needs a kind")
	}
	body, err := json.Marshal(r) // compacts Data: no raw line feed can be in it
	if err != nil {
		return dst, fmt.Errorf("journal: encode %s record: %w", r.Kind, err)
	}
	if len(body) > MaxRecord {
		return dst, fmt.Errorf("journal: %s record of %d bytes is larger than %d", r.Kind, len(body), MaxRecord)
	}
	dst = fmt.Appendf(dst, "%08x %08x ", len(body), crc32.Checksum(body, castagnoli))
	dst = append(dst, body...)
	return append(dst, '\n'), nil
}

// parseFrame reads the frame that b begins with and its length in bytes.
func parseFrame(b []byte) (r Record, n int, ok bool) {
	if len(b) < frameMin || b[8] != ' ' || b[17] != ' ' {
		return r, 0, false
	}
	size, ok1 := hex32(b[:8])
	sum, ok2 := hex32(b[9:17])
	if !ok1 || !ok2 || size > MaxRecord || int(size) > len(b)-frameHead-1 {
		return r, 0, false
	}
	n = frameHead + int(size) + 1
	body := b[frameHead : n-1]
	if b[n-1] != '\n' || body[0] != '{' || crc32.Checksum(body, castagnoli) != sum {
		return r, 0, false
	}
	if err := json.Unmarshal(body, &r); err != nil || r.Seq == 0 || r.Kind == "" {
		return Record{}, 0, false
	}
	r.Data = bytes.Clone(r.Data) // a long-lived record must not hold the whole file
	return r, n, true
}

// hex32 reads eight lower-case hex digits; strconv would take a sign too.
func hex32(b []byte) (v uint32, ok bool) {
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | uint32(c-'0')
		case 'a' <= c && c <= 'f':
			v = v<<4 | uint32(c-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}
