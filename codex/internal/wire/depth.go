package wire

import "fmt"

// MaxDepth is how deep objects and arrays may nest in one frame, the frame itself counted. 0.160.1 parses 127 levels; a
// deeper frame gets no answer at all.
const MaxDepth = 127

// DepthError says that a frame nests too deep for the app-server to read it, which would answer it with silence. The other
// things it cannot read, invalid UTF-8 and the escape of a lone surrogate, are refused by the encoder.
type DepthError struct{ Levels int }

func (e *DepthError) Error() string {
	return fmt.Sprintf("%d levels of nesting, and the app-server reads %d", e.Levels, MaxDepth)
}

// CheckDepth reports a [DepthError] if payload, valid JSON, nests too deep for a frame.
func CheckDepth(payload []byte) error {
	depth, deepest := 1, 1 // the frame
	for i := 0; i < len(payload); i++ {
		switch payload[i] {
		case '"':
			end := skipString(payload, i)
			if end < 0 {
				return ErrNotObject
			}
			i = end - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	if deepest > MaxDepth {
		return &DepthError{Levels: deepest}
	}
	return nil
}
