package wire

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep objects and arrays may nest in one frame, the frame itself counted. 0.160.1 parses 127 levels; a
// deeper frame gets no answer at all.
const MaxDepth = 127

// UnreadableError says why the app-server could not read a frame. 0.160.1 answers such a line with silence, and one with
// invalid UTF-8 ends it, so it is refused before a byte is written.
type UnreadableError struct{ Reason string }

func (e *UnreadableError) Error() string { return "the app-server cannot read it: " + e.Reason }

// Check reports an [UnreadableError] if payload is not one JSON value that fits in a frame below outer levels of nesting.
func Check(payload []byte, outer int) error {
	if !utf8.Valid(payload) {
		return &UnreadableError{"invalid UTF-8"}
	}
	if bytes.IndexByte(payload, '\n') >= 0 || bytes.IndexByte(payload, '\r') >= 0 {
		return &UnreadableError{"a line break between its tokens"}
	}
	if depth := nesting(payload) + outer; depth > MaxDepth {
		return &UnreadableError{fmt.Sprintf("%d levels of nesting, at most %d are parsed", depth, MaxDepth)}
	}
	// The strict scanner takes a lone surrogate escape for invalid UTF-8.
	d := jsontext.NewDecoder(bytes.NewBuffer(payload), jsontext.AllowDuplicateNames(true))
	if err := d.SkipValue(); err != nil {
		return &UnreadableError{reason(err)}
	}
	if space(payload, int(d.InputOffset())) != len(payload) {
		return &UnreadableError{"more than one JSON value"}
	}
	return nil
}

func reason(err error) string {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && syntax.Err != nil {
		return fmt.Sprintf("%v at byte %d", syntax.Err, syntax.ByteOffset)
	}
	return err.Error()
}

// nesting is the depth of the deepest object or array in b.
func nesting(b []byte) (deepest int) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := skipString(b, i)
			if end < 0 {
				return deepest
			}
			i = end - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}
