package view

import (
	"fmt"
	"io"
	"strings"
)

// Screen keeps a block of lines at the end of a terminal and adds lines above
// it. It is for one goroutine, and writes only when something changes.
type Screen struct {
	out     io.Writer
	columns func() int
	drawn   []string // the block as it stands; nil is none
}

// NewScreen draws on out, which has to be a terminal of the columns that the
// function tells at any time; 0 is not known.
func NewScreen(out io.Writer, columns func() int) *Screen {
	return &Screen{out: out, columns: columns}
}

// Draw replaces the block and adds lines above it, in one write.
func (s *Screen) Draw(block []string, above ...string) error { return s.update(above, block) }

// Print adds lines above the block, which stays.
func (s *Screen) Print(lines ...string) error { return s.update(lines, s.drawn) }

// Clear takes the block away.
func (s *Screen) Clear() error { return s.update(nil, nil) }

func (s *Screen) update(above, block []string) error {
	if len(above) == 0 && equal(block, s.drawn) {
		return nil
	}
	var b strings.Builder
	if n := s.rows(); n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", n) // up to the block's first line, and clear from there
	}
	for _, line := range above {
		b.WriteString(line + "\n")
	}
	for _, line := range block {
		b.WriteString(line + "\n")
	}
	s.drawn = block
	_, err := io.WriteString(s.out, b.String())
	return err
}

// rows is how many rows the block takes now: a terminal that was made narrower
// has wrapped its lines.
func (s *Screen) rows() (n int) {
	columns := s.columns()
	for _, line := range s.drawn {
		n++
		if w := Width(unpainted(line)); columns > 0 && w > columns {
			n += (w - 1) / columns
		}
	}
	return n
}

// unpainted takes the colours out of a rendered line.
func unpainted(line string) string {
	for {
		before, rest, found := strings.Cut(line, "\x1b[")
		_, after, ended := strings.Cut(rest, "m")
		if !found || !ended {
			return line
		}
		line = before + after
	}
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
