package protocol

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Unknown is the arm of any union that this package does not know: a newer Codex
// said it, or it was malformed. It is written back as it was read, so passing
// it on loses nothing.
type Unknown struct {
	Raw jsontext.Value // the whole value, valid JSON
}

// decodeFrom reads the next value of dec into d.
func decodeFrom(dec *jsontext.Decoder, d decoder) error {
	text, err := dec.ReadValue()
	if err != nil {
		return err
	}
	return decodeAll(text, d)
}

// encode writes v for encoding/json, which does not mind that a member which
// [Unknown] keeps may be there twice.
func encode(v json.MarshalerTo) ([]byte, error) {
	return json.Marshal(v, jsontext.AllowDuplicateNames(true))
}

var errNotObject = errors.New("the arm is not written as a JSON object")

// encodeTagged writes the arm as an object that starts with the tag.
func encodeTagged(enc *jsontext.Encoder, member, tag string, arm any) error {
	if u, ok := arm.(*Unknown); ok {
		return enc.WriteValue(u.Raw)
	}
	body, err := json.Marshal(arm, enc.Options())
	if err != nil {
		return err
	}
	head, err := jsontext.AppendQuote([]byte{'{'}, member)
	if err != nil {
		return err
	}
	head, err = jsontext.AppendQuote(append(head, ':'), tag)
	if err != nil {
		return err
	}
	whole, err := join(head, body)
	if err != nil {
		return fmt.Errorf("encode %T: %w", arm, err)
	}
	return enc.WriteValue(whole)
}

// encodeBeside writes the members of shared followed by those of the tagged arm.
func encodeBeside(enc *jsontext.Encoder, shared any, tagged func(*jsontext.Encoder) error) error {
	head, err := json.Marshal(shared, enc.Options())
	if err != nil {
		return err
	}
	var arm writer
	if err := tagged(jsontext.NewEncoder(&arm, enc.Options())); err != nil {
		return err
	}
	if jsontext.Value(arm).Kind() != '{' {
		return enc.WriteValue(head) // no arm
	}
	head = head[:len(head)-1]
	if len(head) == 1 {
		return enc.WriteValue(jsontext.Value(arm))
	}
	whole, err := join(head, arm)
	if err != nil {
		return err
	}
	return enc.WriteValue(whole)
}

// join appends the members of the object body to the unfinished object head.
func join(head, body []byte) (jsontext.Value, error) {
	c := cursor{text: body}
	if c.peek() != '{' {
		return nil, errNotObject
	}
	c.at++
	if c.peek() != '}' {
		head = append(head, ',')
	}
	return append(head, body[c.at:]...), nil
}

type writer []byte

func (w *writer) Write(b []byte) (int, error) {
	*w = append(*w, b...)
	return len(b), nil
}

// encodeMember writes an object with one member.
func encodeMember(enc *jsontext.Encoder, member string, value any) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	if err := enc.WriteToken(jsontext.String(member)); err != nil {
		return err
	}
	if err := json.MarshalEncode(enc, value); err != nil {
		return err
	}
	return enc.WriteToken(jsontext.EndObject)
}

// unknown reads any value.
func (c *cursor) unknown() *Unknown {
	return &Unknown{Raw: jsontext.Value(c.skip()).Clone()}
}

// tag returns the string that the object at c holds under a name, nil when it
// holds none there or is no object. The cursor stays where it is.
func (c *cursor) tag(name string) []byte {
	at, depth := c.at, c.depth
	if !c.find(name) || c.peek() != '"' {
		c.back(at, depth)
		return nil
	}
	tag := c.bytes()
	c.back(at, depth)
	return tag
}

// has reports whether the value at c is an object with the member, or with a
// member that is an object with a member, and so on along the path. The cursor
// stays where it is.
func (c *cursor) has(path ...string) bool {
	at, depth := c.at, c.depth
	found := true
	for _, name := range path {
		found = found && c.find(name)
	}
	c.back(at, depth)
	return found
}

// kind returns the first byte of the value at c, '0' for every number.
func (c *cursor) kind() byte {
	b := c.peek()
	if b == '-' || '0' <= b && b <= '9' {
		return '0'
	}
	return b
}

// back returns to an earlier place, unless a failure made that pointless.
func (c *cursor) back(at, depth int) {
	if c.err == nil {
		c.at, c.depth, c.fresh = at, depth, false
	}
}

// find moves to the value of a member of the object that is next.
func (c *cursor) find(name string) bool {
	if c.peek() != '{' {
		return false
	}
	for c.open('{'); c.more('}'); {
		if string(c.name()) == name {
			return c.err == nil
		}
		c.skip()
	}
	return false
}
