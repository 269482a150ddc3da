package protocol

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decoder is what every generated object and union is, through its pointer.
type decoder interface {
	decode(c *cursor)
}

var cursors = sync.Pool{New: func() any { return &cursor{names: new(nameCache)} }}

// decodeAll reads text, which must hold one value and nothing else, into d.
func decodeAll(text []byte, d decoder) error {
	c := cursors.Get().(*cursor)
	c.text, c.at, c.err, c.fresh, c.depth = text, 0, nil, false, 0
	d.decode(c)
	err := c.end()
	c.text = nil
	if cap(c.scratch) > 1<<16 {
		c.scratch = nil
	}
	cursors.Put(c)
	return err
}

// Unmarshal reads text, one JSON value, into v, which is a pointer. For the
// objects and unions of this package it makes a single pass without reflection;
// what it returns is what go-json-experiment/json returns, a few times faster.
// Anything else it hands to that library. The text is not kept.
func Unmarshal(text []byte, v any) error {
	if d, ok := v.(decoder); ok {
		if err := decodeAll(text, d); err != nil {
			return fmt.Errorf("%T: %w", v, err)
		}
		return nil
	}
	return json.Unmarshal(text, v, jsontext.AllowDuplicateNames(true))
}

func readText[T ~string](p *T, c *cursor) {
	if c.null() {
		*p = ""
		return
	}
	*p = T(c.names.string(c.bytes()))
}

func readBool(p *bool, c *cursor) {
	switch {
	case c.null():
		*p = false
	case c.literal("true"):
		*p = true
	case c.literal("false"):
		*p = false
	default:
		c.fail("no boolean")
	}
}

func readInt[T ~int32 | ~int64](p *T, c *cursor) {
	if c.null() {
		*p = 0
		return
	}
	*p = T(c.int(int(unsafe.Sizeof(*p)) * 8))
}

func readUint[T ~uint16 | ~uint32 | ~uint64](p *T, c *cursor) {
	if c.null() {
		*p = 0
		return
	}
	*p = T(c.uint(int(unsafe.Sizeof(*p)) * 8))
}

func readAny(p *jsontext.Value, c *cursor) {
	*p = jsontext.Value(c.skip()).Clone()
}

func readPointer[T any](p **T, c *cursor, read func(*T, *cursor)) {
	if c.null() {
		*p = nil
		return
	}
	*p = new(T)
	read(*p, c)
}

func readOpt[T any](p *Opt[T], c *cursor, read func(*T, *cursor)) {
	if c.null() {
		*p = Null[T]()
		return
	}
	p.state = optValue
	read(&p.value, c)
}

func readSlice[T any](p *[]T, c *cursor, read func(*T, *cursor)) {
	if c.null() {
		*p = nil
		return
	}
	list := []T{}
	for c.open('['); c.more(']'); {
		list = append(list, *new(T))
		read(&list[len(list)-1], c)
	}
	*p = list
}

func readMap[T any](p *map[string]T, c *cursor, read func(*T, *cursor)) {
	if c.null() {
		*p = nil
		return
	}
	m := map[string]T{}
	for c.open('{'); c.more('}'); {
		name := c.names.string(c.name())
		var v T
		read(&v, c)
		m[name] = v
	}
	*p = m
}

// reflect reads a value of a type that has no decode method.
func (c *cursor) reflect(p any) {
	text := c.skip()
	if c.err != nil {
		return
	}
	if err := json.Unmarshal(text, p, jsontext.AllowDuplicateNames(true)); err != nil {
		c.fail("a value of the wrong type")
		c.err = err
	}
}
