package wire

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

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

func TestDepthIsCountedAsTheServerCountsIt(t *testing.T) {
	nested := func(levels int) []byte {
		return []byte(`{"a":` + strings.Repeat("[", levels-2) + strings.Repeat("]", levels-2) + `,"b":"` + strings.Repeat("[", 500) + `"}`)
	}
	if err := CheckDepth(nested(127)); err != nil {
		t.Error(err)
	}
	var deep *DepthError
	if err := CheckDepth(nested(128)); !errors.As(err, &deep) || deep.Levels != 128 {
		t.Error(err)
	}
	if err := CheckDepth([]byte(strings.Repeat(`[{}],`, 500))); err != nil {
		t.Error(err)
	}
}
