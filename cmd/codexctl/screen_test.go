package main

import (
	"strings"
	"sync"
)

// screen is a terminal as far as the live view uses one: it moves up, returns,
// clears to the end, wraps, and drops colours.
type screen struct {
	mu       sync.Mutex
	columns  int
	rows     [][]rune
	row, col int
	raw      strings.Builder
	pending  []byte // of a sequence or a rune that is not whole yet
}

func newScreen(columns int) *screen { return &screen{columns: columns, rows: [][]rune{nil}} }

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw.Write(p)
	text := string(append(s.pending, p...))
	s.pending = nil
	for len(text) > 0 {
		if text[0] == 0x1b {
			end := strings.IndexFunc(text[1:], func(r rune) bool { return r >= '@' && r != '[' })
			if end < 0 {
				s.pending = []byte(text)
				break
			}
			s.sequence(text[2:1+end], text[1+end])
			text = text[2+end:]
			continue
		}
		r, rest := firstRune(text)
		if rest == text {
			s.pending = []byte(text)
			break
		}
		s.put(r)
		text = rest
	}
	return len(p), nil
}

func firstRune(text string) (rune, string) {
	for i, r := range text {
		if i > 0 {
			first, _ := firstRune(text[:i])
			return first, text[i:]
		}
		if r != '\ufffd' && len(string(r)) == len(text) {
			return r, ""
		}
	}
	return 0, text
}

func (s *screen) sequence(parameter string, final byte) {
	switch final {
	case 'A':
		n := 0
		for _, c := range parameter {
			n = n*10 + int(c-'0')
		}
		s.row = max(0, s.row-n)
	case 'J':
		s.rows = s.rows[:s.row+1]
		s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
	}
}

func (s *screen) put(r rune) {
	switch r {
	case '\r':
		s.col = 0
		return
	case '\n':
		s.down()
		return
	}
	if s.col == s.columns {
		s.col = 0
		s.down()
	}
	line := s.rows[s.row]
	for len(line) <= s.col {
		line = append(line, ' ')
	}
	line[s.col] = r
	s.rows[s.row] = line
	s.col++
}

func (s *screen) down() {
	s.row++
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
}

// text is what stands on the screen.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, row := range s.rows {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// written is every byte that was written.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}
