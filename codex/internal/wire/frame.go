package wire

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// headroom is what the id of a request takes in front of its method: {"id":-9223372036854775808,
const headroom = len(`{"id":-9223372036854775808,`)

// Frame is an outgoing line whose id is not known yet. The bytes are laid out once: the id goes into room kept for it.
type Frame struct {
	buf  []byte // headroom, then the line as if it had no id
	line []byte
}

// NewFrame lays out a request or notification. params is raw JSON on one line; nil leaves the member out.
func NewFrame(method string, params []byte) *Frame {
	buf := make([]byte, headroom, headroom+len(`{"method":"","params":}`)+len(method)+len(params)+3)
	buf = append(buf, `{"method":`...)
	buf, _ = jsontext.AppendQuote(buf, method)
	if params != nil {
		buf = append(buf, `,"params":`...)
		buf = append(buf, params...)
	}
	buf = append(buf, "}\n"...)
	return &Frame{buf: buf, line: buf[headroom:]}
}

// Len is the most bytes that the line takes with any id.
func (f *Frame) Len() int { return len(f.buf) }

// number puts the id in. A frame that is sent again takes its new id in the same way.
func (f *Frame) number(id uint64) {
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], id, 10)
	at := headroom + 1 - len(`{"id":,`) - len(d) // the last byte replaces the '{'
	f.line = f.buf[at:]
	copy(f.line, `{"id":`)
	copy(f.line[len(`{"id":`):], d)
	f.line[len(`{"id":`)+len(d)] = ','
}

// replyLine lays out an answer to a server request. name is "result" or "error", value raw JSON.
func replyLine(id []byte, name string, value []byte) []byte {
	buf := make([]byte, 0, len(id)+len(value)+len(`{"id":,"result":}`)+1)
	buf = append(buf, `{"id":`...)
	buf = append(buf, id...)
	buf = append(buf, `,"`...)
	buf = append(buf, name...)
	buf = append(buf, `":`...)
	buf = append(buf, value...)
	return append(buf, "}\n"...)
}
