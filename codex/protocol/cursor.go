package protocol

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// cursor reads one JSON value from the front to the back, strictly by RFC 8259.
// It exists for the messages that arrive by the thousand: it decodes straight
// into generated structs, without reflection and without a second look at any
// byte. It accepts and refuses the same texts as go-json-experiment/json, but
// for duplicate member names, of which it takes the last.
//
// The first failure sticks: later calls do nothing and loops end.
type cursor struct {
	text    []byte
	at      int
	err     error
	fresh   bool // an object or array was just entered
	depth   int
	scratch []byte
	names   *nameCache
}

// maxDepth bounds nesting, as jsontext does, so that hostile input cannot use up
// the stack.
const maxDepth = 10000

func (c *cursor) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("decode JSON: %s at byte %d", what, c.at)
	}
	c.at = len(c.text)
	c.fresh = false
}

func (c *cursor) space() {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return
		}
	}
}

// peek returns the first byte of the next token, 0 at the end.
func (c *cursor) peek() byte {
	c.space()
	if c.at < len(c.text) {
		return c.text[c.at]
	}
	return 0
}

// end requires that nothing but space follows.
func (c *cursor) end() error {
	if c.space(); c.err == nil && c.at < len(c.text) {
		c.fail("text after the value")
	}
	return c.err
}

// open enters an object or array; close it by running [cursor.more] to the end.
func (c *cursor) open(bracket byte) {
	if c.peek() != bracket {
		c.fail("no " + string(rune(bracket)))
		return
	}
	if c.depth++; c.depth > maxDepth {
		c.fail("nesting too deep")
		return
	}
	c.at++
	c.fresh = true
}

// more steps to the next member or element and reports whether there is one.
func (c *cursor) more(bracket byte) bool {
	fresh := c.fresh
	c.fresh = false
	switch b := c.peek(); {
	case c.err != nil:
		return false
	case b == bracket:
		c.at++
		c.depth--
		return false
	case fresh:
		return true
	case b == ',':
		c.at++
		c.space()
		return true
	}
	c.fail("no comma or " + string(rune(bracket)))
	return false
}

// name reads a member name and the colon behind it. The bytes are good until
// the next call.
func (c *cursor) name() []byte {
	name := c.bytes()
	if c.peek() != ':' {
		c.fail("no colon")
		return nil
	}
	c.at++
	return name
}

// bytes reads a string. The bytes are good until the next call.
func (c *cursor) bytes() []byte {
	if c.peek() != '"' {
		c.fail("no string")
		return nil
	}
	start := c.at
	wide := false
	for i := start + 1; ; i++ {
		i += plain(c.text[i:])
		if i >= len(c.text) {
			break
		}
		switch b := c.text[i]; {
		case b == '"':
			c.at = i + 1
			s := c.text[start+1 : i]
			if wide && !utf8.Valid(s) {
				c.fail("invalid UTF-8")
				return nil
			}
			return s
		case b == '\\':
			return c.escaped(start, i)
		case b < ' ':
			c.fail("control character in a string")
			return nil
		default:
			wide = true
		}
	}
	c.fail("unterminated string")
	return nil
}

// plain returns how many bytes at the front of b are plain: ASCII, and neither
// a quote, a backslash nor a control character. It looks at eight at a time.
func plain(b []byte) int {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote := w ^ '"'*ones
		slash := w ^ '\\'*ones
		// A byte below the subtrahend borrows into its high bit; the lowest hit is exact.
		if hit := (w | (w - ' '*ones) | (quote - ones) | (slash - ones)) & high; hit != 0 {
			return n + bits.TrailingZeros64(hit)/8
		}
	}
	for ; n < len(b); n++ {
		if b := b[n]; b == '"' || b == '\\' || b < ' ' || b >= utf8.RuneSelf {
			break
		}
	}
	return n
}

// escaped reads a string of which the first escape is at i.
func (c *cursor) escaped(start, i int) []byte {
	for ; i < len(c.text); i++ {
		switch c.text[i] {
		case '\\':
			i++
		case '"':
			var err error
			c.scratch, err = jsontext.AppendUnquote(c.scratch[:0], c.text[start:i+1])
			if err != nil {
				c.fail("malformed string")
				return nil
			}
			c.at = i + 1
			return c.scratch
		}
	}
	c.fail("unterminated string")
	return nil
}

// literal steps over the word if it is next.
func (c *cursor) literal(word string) bool {
	if c.peek() != word[0] {
		return false
	}
	if len(c.text)-c.at < len(word) || string(c.text[c.at:c.at+len(word)]) != word {
		c.fail("malformed literal")
		return false
	}
	c.at += len(word)
	return true
}

// null steps over a null if it is next. It also reports true after a failure, so
// that callers return.
func (c *cursor) null() bool { return c.literal("null") || c.err != nil }

// number reads the text of a number and reports whether it is a plain integer.
func (c *cursor) number() (text []byte, integer bool) {
	c.space()
	start := c.at
	digits := func() bool {
		from := c.at
		for c.at < len(c.text) && '0' <= c.text[c.at] && c.text[c.at] <= '9' {
			c.at++
		}
		return c.at > from
	}
	next := func() byte {
		if c.at < len(c.text) {
			return c.text[c.at]
		}
		return 0
	}
	if next() == '-' {
		c.at++
	}
	if next() == '0' {
		c.at++
	} else if !digits() {
		c.fail("no number")
		return nil, false
	}
	integer = true
	if next() == '.' {
		c.at++
		integer = false
		if !digits() {
			c.fail("malformed number")
			return nil, false
		}
	}
	if b := next(); b == 'e' || b == 'E' {
		c.at++
		integer = false
		if b := next(); b == '+' || b == '-' {
			c.at++
		}
		if !digits() {
			c.fail("malformed number")
			return nil, false
		}
	}
	return c.text[start:c.at], integer
}

// skip steps over any value and returns its text.
func (c *cursor) skip() []byte {
	c.space()
	start := c.at
	switch b := c.peek(); b {
	case '{':
		c.skipObject()
	case '[':
		for c.open('['); c.more(']'); {
			c.skip()
		}
	case '"':
		c.bytes()
	case 't':
		c.literal("true")
	case 'f':
		c.literal("false")
	case 'n':
		c.literal("null")
	default:
		c.number()
	}
	if c.err != nil {
		return nil
	}
	return c.text[start:c.at]
}

// skipObject steps over an object, whatever it holds.
func (c *cursor) skipObject() {
	for c.open('{'); c.more('}'); {
		c.name()
		c.skip()
	}
}

func (c *cursor) int(bits int) int64 {
	text, integer := c.number()
	if c.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(text), 10, bits)
	if !integer || err != nil {
		c.fail("no integer of " + strconv.Itoa(bits) + " bits")
	}
	return n
}

func (c *cursor) uint(bits int) uint64 {
	text, integer := c.number()
	if c.err != nil {
		return 0
	}
	n, err := strconv.ParseUint(string(text), 10, bits)
	if !integer || err != nil {
		c.fail("no unsigned integer of " + strconv.Itoa(bits) + " bits")
	}
	return n
}

// nameCache keeps short strings that come again and again, such as thread ids
// and status words, so that they are allocated once.
type nameCache [256]string

const longestCached = 64

func (n *nameCache) string(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if n == nil || len(b) > longestCached {
		return string(b)
	}
	h := uint32(len(b))*31 + uint32(b[0])
	h = h*31 + uint32(b[len(b)/2])
	h = h*31 + uint32(b[len(b)-1])
	h = h*31 + uint32(b[len(b)*3/4])
	h = h*31 + uint32(b[len(b)-min(len(b), 4)])
	slot := &n[(h*2654435761)>>24&(uint32(len(n))-1)]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}
