package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// maxText bounds what is read for a TEXT, in bytes. Codex takes 4,000
// characters of objective; a prompt may be longer.
const maxText = 8 << 20

// readText resolves a TEXT argument: "-" is standard input, "@file" is the
// file's content, anything else is itself.
func readText(s streams, text string) (string, error) {
	switch {
	case text == "-":
		return readAll(s.in, "standard input")
	case strings.HasPrefix(text, "@"):
		name := text[1:]
		f, err := os.Open(name)
		if err != nil {
			return "", usageError("read the text: %w", err)
		}
		defer f.Close()
		return readAll(f, name)
	default:
		return checkText(text, "the text")
	}
}

// isReference reports whether readText would read the text from elsewhere.
func isReference(text string) bool { return text == "-" || strings.HasPrefix(text, "@") }

func readAll(r io.Reader, name string) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	switch {
	case err != nil:
		return "", usageError("read the text from %s: %w", name, err)
	case len(b) > maxText:
		return "", usageError("the text in %s is longer than %d bytes", name, maxText)
	}
	return checkText(string(b), name)
}

func checkText(text, name string) (string, error) {
	if !utf8.ValidString(text) {
		return "", usageError("%s is not valid UTF-8", name)
	}
	if strings.TrimSpace(text) == "" {
		return "", usageError("%s is blank; say what is to be done", name)
	}
	return text, nil
}
