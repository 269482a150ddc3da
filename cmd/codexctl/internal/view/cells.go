package view

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// cells is how many terminal columns a rune takes.
func cells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case !unicode.IsPrint(r):
		return 0 // Clean removes these
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// Width is how many columns a line of text takes.
func Width(s string) (n int) {
	for _, r := range s {
		n += cells(r)
	}
	return n
}

// sequence is what a terminal takes for a command and not for text.
var sequence = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?)")

// Clean makes text safe for a terminal line: what would move the cursor, change
// the terminal or reorder the text becomes a space, and runs of spaces one.
// Text from a model or a command is not to be trusted with a terminal.
func Clean(s string) string {
	return strings.Join(strings.FieldsFunc(sequence.ReplaceAllString(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || isFormat(r) || r == unicode.ReplacementChar
	}), " ")
}

// CleanLines is Clean for text that keeps its lines and its indentation.
func CleanLines(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t' || unicode.IsControl(r) || isFormat(r):
			return ' '
		}
		return r
	}, strings.ReplaceAll(sequence.ReplaceAllString(s, ""), "\r\n", "\n"))
}

// isFormat is for invisible characters that reorder text. The joiner of emoji
// is one of their category and is let through.
func isFormat(r rune) bool { return r != '\u200d' && unicode.Is(unicode.Cf, r) }

// Cut shortens s to at most n columns, with an ellipsis where it was cut.
func Cut(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	used := 0
	for i, r := range s {
		w := cells(r)
		if used+w > n-1 {
			return s[:i] + "…"
		}
		used += w
	}
	return s
}
