package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(r *LineReader) (lines []string, long int, err error) {
	for {
		line, _, err := r.Next()
		var tooLong *LineTooLongError
		switch {
		case err == nil:
			lines = append(lines, string(line))
		case errors.As(err, &tooLong):
			long++
		default:
			return lines, long, err
		}
	}
}

func TestLinesEndAtLineFeedAndNothingElse(t *testing.T) {
	for name, row := range map[string]struct {
		in   string
		want []string
		end  error
	}{
		"empty":               {"", nil, io.EOF},
		"plain":               {"a\nb\n", []string{"a", "b"}, io.EOF},
		"blank lines":         {"\n\na\n\n", []string{"", "", "a", ""}, io.EOF},
		"carriage return":     {"a\r\nb\rc\n", []string{"a", "b\rc"}, io.EOF},
		"line separator":      {"a\u2028b\u2029c\n", []string{"a\u2028b\u2029c"}, io.EOF},
		"form feed and NEL":   {"a\fb\u0085c\v\n", []string{"a\fb\u0085c\v"}, io.EOF},
		"invalid UTF-8":       {"a\xff\xfe\n", []string{"a\xff\xfe"}, io.EOF},
		"cut last line":       {"a\nbc", []string{"a"}, &CutLineError{}},
		"cut in the first":    {"abc", nil, &CutLineError{}},
		"larger than a read":  {strings.Repeat("x", 3*readSize) + "\ny\n", []string{strings.Repeat("x", 3*readSize), "y"}, io.EOF},
		"ends with the read":  {strings.Repeat("x", readSize-1) + "\ny\n", []string{strings.Repeat("x", readSize-1), "y"}, io.EOF},
		"fills the read":      {strings.Repeat("x", readSize) + "\ny\n", []string{strings.Repeat("x", readSize), "y"}, io.EOF},
		"large and cut":       {strings.Repeat("x", 2*readSize), nil, &CutLineError{}},
		"larger than a chunk": {strings.Repeat("x", 3*firstChunk) + "\r\n", []string{strings.Repeat("x", 3*firstChunk)}, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			for how, src := range map[string]io.Reader{
				"whole": strings.NewReader(row.in), "halved": iotest.HalfReader(strings.NewReader(row.in)),
				"with EOF": iotest.DataErrReader(strings.NewReader(row.in)), "by bytes": iotest.OneByteReader(strings.NewReader(row.in)),
			} {
				got, _, err := readAll(NewLineReader(src, 0, nil))
				if !equal(got, row.want) {
					t.Errorf("%s: got %d lines, want %d", how, len(got), len(row.want))
				}
				if _, cut := err.(*CutLineError); cut != (row.end != io.EOF) || !cut && err != io.EOF {
					t.Errorf("%s: ended with %v, want %T", how, err, row.end)
				}
			}
		})
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

func TestLineOverTheLimitIsSkippedAndReadingGoesOn(t *testing.T) {
	for _, limit := range []int{10, readSize, 2 * readSize, firstChunk + 10} {
		long := strings.Repeat("x", limit+1)
		r := NewLineReader(strings.NewReader(long+"\nafter\n"+long+long+"\n"+long[1:]+"\n"), limit, nil)
		_, _, err := r.Next()
		var tooLong *LineTooLongError
		if !errors.As(err, &tooLong) || tooLong.Size != int64(limit+1) || tooLong.Limit != limit || !strings.HasPrefix(long, string(tooLong.Prefix)) {
			t.Fatalf("limit %d: %v", limit, err)
		}
		if len(tooLong.Prefix) == 0 || len(tooLong.Prefix) > prefixKept {
			t.Errorf("limit %d: kept %d bytes of the line", limit, len(tooLong.Prefix))
		}
		if limit > 10 {
			lines, n, err := readAll(r)
			if len(lines) != 2 || lines[0] != "after" || lines[1] != long[1:] || n != 1 || err != io.EOF {
				t.Errorf("limit %d: then %d lines, %d too long, %v", limit, len(lines), n, err)
			}
		}
	}
}

func TestLinesAreReturnedBeforeAReadThatMayBlock(t *testing.T) {
	var returned, seen int
	r := NewLineReader(iotest.OneByteReader(strings.NewReader("a\nb\nc\n")), 0, func() {
		if returned != seen {
			t.Errorf("about to read with %d lines announced and %d returned", seen, returned)
		}
	})
	for {
		_, _, err := r.Next()
		if err != nil {
			break
		}
		returned++
		seen++
	}
	if returned != 3 {
		t.Errorf("%d lines", returned)
	}
}

// Whatever the bytes and wherever the reads fall, the lines are those of a plain split.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n"), uint16(1), uint16(4))
	f.Add([]byte("{\"method\":\"x\"}\n{\"id\":1,\"result\":\"\u2028\"}\ncut"), uint16(7), uint16(200))
	f.Add(bytes.Repeat([]byte("xyz\n"), 50), uint16(13), uint16(2))
	f.Fuzz(func(t *testing.T, in []byte, step, limit uint16) {
		r := NewLineReader(&steps{in: in, step: int(step)%97 + 1}, int(limit)+1, nil)
		r.buf = r.buf[:16] // so that the long path is taken often
		got, long, err := readAll(r)
		var want []string
		wantLong := 0
		parts := bytes.Split(in, []byte("\n"))
		rest := parts[len(parts)-1]
		for _, p := range parts[:len(parts)-1] {
			if len(p) > int(limit)+1 {
				wantLong++
				continue
			}
			want = append(want, strings.TrimSuffix(string(p), "\r"))
		}
		if !equal(got, want) || long != wantLong {
			t.Fatalf("got %q and %d too long, want %q and %d", got, long, want, wantLong)
		}
		if _, cut := err.(*CutLineError); cut != (len(rest) > 0) {
			t.Fatalf("ended with %v, %d bytes left", err, len(rest))
		}
	})
}

type steps struct {
	in   []byte
	step int
}

func (s *steps) Read(p []byte) (int, error) {
	if len(s.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.in[:min(s.step, len(s.in))])
	s.in = s.in[n:]
	return n, nil
}
