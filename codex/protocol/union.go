package protocol

import (
	"errors"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Unknown is the arm of any union that this package does not know: a newer Codex
// said it, or it was malformed. It is written back as it was read, so passing
// it on loses nothing.
type Unknown struct {
	Raw jsontext.Value // the whole value, valid JSON
}

// union is what the generated unions share.
type union interface {
	decodeValue(raw []byte) error
}

// unmarshalUnion reads the next value of dec into u.
func unmarshalUnion(dec *jsontext.Decoder, u union) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	return u.decodeValue(raw)
}

func unknown(raw []byte) *Unknown {
	return &Unknown{Raw: jsontext.Value(raw).Clone()}
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

// stringMember returns the string that an object holds under a name, "" when it
// holds none there or raw is no object.
func stringMember(raw []byte, name string) string {
	c := cursor{text: raw}
	if !c.find(name) || c.peek() != '"' {
		return ""
	}
	return string(c.bytes())
}

// hasMember reports whether raw is an object with the member, or with a member
// that is an object with a member, and so on along the path.
func hasMember(raw []byte, path ...string) bool {
	c := cursor{text: raw}
	for _, name := range path {
		if !c.find(name) {
			return false
		}
	}
	return true
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

// members iterates over the members of raw, if it is an object.
func members(raw []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		c := cursor{text: raw}
		if c.peek() != '{' {
			return
		}
		for c.open('{'); c.more('}'); {
			name := string(c.name())
			if value := c.skip(); c.err != nil || !yield(name, value) {
				return
			}
		}
	}
}
