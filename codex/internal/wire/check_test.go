package wire

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

func TestWhatTheAppServerCannotParseIsRefused(t *testing.T) {
	for name, payload := range map[string]string{
		"lone high surrogate":   `{"a":"\ud800"}`,
		"lone low surrogate":    `{"a":"x\udc00y"}`,
		"reversed pair":         `{"a":"\udc00\ud800"}`,
		"lone surrogate in key": `{"\ud800":1}`,
		"invalid UTF-8":         "{\"a\":\"\xff\"}",
		"line feed":             "{\"a\":\n1}",
		"carriage return":       "{\"a\":\r1}",
		"control character":     "{\"a\":\"\x01\"}",
		"two values":            `{} {}`,
		"cut":                   `{"a":`,
		"nothing":               ``,
		"too deep":              `{"a":` + strings.Repeat("[", 126) + strings.Repeat("]", 126) + `}`,
	} {
		var unreadable *UnreadableError
		if err := Check([]byte(payload), 1); !errors.As(err, &unreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, payload := range map[string]string{
		"pair":           `{"a":"\ud83d\ude00"}`,
		"NUL":            `{"a":"\u0000"}`,
		"separators":     "{\"a\":\"\u2028\u2029\"}",
		"huge number":    `{"a":1e999,"b":-123456789012345678901234567890}`,
		"same name":      `{"a":1,"a":2}`,
		"null":           `null`,
		"deepest":        `{"a":` + strings.Repeat("[", 125) + strings.Repeat("]", 125) + `}`,
		"brackets, text": `{"a":"` + strings.Repeat("[", 500) + `"}`,
	} {
		if err := Check([]byte(payload), 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFrameTakesItsIDWithoutMoving(t *testing.T) {
	f := NewFrame("a/b", []byte(`{"x":1}`))
	if string(f.line) != `{"method":"a/b","params":{"x":1}}`+"\n" {
		t.Errorf("notification: %s", f.line)
	}
	for _, id := range []uint64{0, 7, 18446744073709551615, 12} {
		f.number(id)
		want := `{"id":` + strconv.FormatUint(id, 10) + `,"method":"a/b","params":{"x":1}}` + "\n"
		if string(f.line) != want {
			t.Errorf("got %s, want %s", f.line, want)
		}
	}
}
