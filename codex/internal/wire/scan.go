package wire

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// members walks the members of one JSON object without judging their values.
type members struct {
	b      []byte
	at     int    // of the next unread byte; in front of a value after next
	name   []byte // of the member that next found
	begun  bool
	closed bool // the object's '}' has been passed
}

// open begins at the object that starts at b[at], spaces before it skipped. If there is none, next is false at once.
func open(b []byte, at int) members {
	at = space(b, at)
	if at >= len(b) || b[at] != '{' {
		return members{b: b, at: len(b)}
	}
	return members{b: b, at: at + 1}
}

// next finds the next member and stops in front of its value, which must then be passed with value. It is false at the
// end of the object (closed is set) and where the bytes are no object.
func (m *members) next() bool {
	b, i := m.b, space(m.b, m.at)
	if m.closed || i >= len(b) {
		return false
	}
	if b[i] == '}' && !m.begun {
		m.closed, m.at = true, i+1
		return false
	}
	if m.begun {
		if b[i] == '}' {
			m.closed, m.at = true, i+1
			return false
		}
		if b[i] != ',' {
			return false
		}
		i = space(b, i+1)
	}
	if i >= len(b) || b[i] != '"' {
		return false
	}
	end := skipString(b, i)
	if end < 0 {
		return false
	}
	name := b[i+1 : end-1]
	i = space(b, end)
	if i >= len(b) || b[i] != ':' {
		return false
	}
	i = space(b, i+1)
	if i >= len(b) {
		return false
	}
	m.begun, m.name, m.at = true, name, i
	return true
}

// value passes the value that next stopped at and returns its bytes, nil if it has no end.
func (m *members) value() []byte {
	end := skip(m.b, m.at)
	if end < 0 {
		return nil
	}
	v := m.b[m.at:end]
	m.at = end
	return v
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skip returns the index behind the value at b[i], -1 if it has no end or is empty.
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	from := i
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n', '"', ':', '{', '[':
			if i == from {
				return -1
			}
			return i
		}
		i++
	}
	return -1
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// skipString returns the index behind the string that begins at b[i], -1 if it has no end.
func skipString(b []byte, i int) int {
	i++
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		if b[i-1] != '\\' {
			return i + 1
		}
		escapes := 1 // b[i-1]; the opening quote ends the run at the latest
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		i++
		if escapes%2 == 0 {
			return i
		}
	}
}

// unquote returns the text of a JSON string, without a copy when nothing in it is escaped.
func unquote(v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return nil
	}
	inner := v[1 : len(v)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return inner
	}
	return text
}
