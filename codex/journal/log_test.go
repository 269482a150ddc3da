package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/codexctl/codexctl/codex/journal"
)

type step struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

// payload is data of a size that varies and text that JSON must escape.
func payload(n int) step {
	return step{N: n, Text: strings.Repeat("a\nb \"ü🙂\" ", n%7)}
}

func mustOpen(t *testing.T, path string) (*journal.Log, []journal.Record, journal.Torn) {
	t.Helper()
	log, records, torn, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log, records, torn
}

func mustAppend(t *testing.T, log *journal.Log, n int) {
	t.Helper()
	r, err := journal.New("step", payload(n))
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Append(r); err != nil {
		t.Fatal(err)
	}
}

// newLog writes a log of n steps and returns its path and content.
func newLog(t *testing.T, n int) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state", "log")
	log, _, _ := mustOpen(t, path)
	for i := 1; i <= n; i++ {
		mustAppend(t, log, i)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, content
}

func checkSteps(t *testing.T, records []journal.Record, want int) {
	t.Helper()
	if len(records) != want {
		t.Fatalf("got %d records, want %d", len(records), want)
	}
	for i, r := range records {
		var got step
		if err := r.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(payload(i+1), got); diff != "" || r.Seq != uint64(i+1) || r.Kind != "step" {
			t.Fatalf("record %d (kind %q) is not what was written (-want +got):\n%s", r.Seq, r.Kind, diff)
		}
	}
}

func TestRecordsComeBackInOrder(t *testing.T) {
	path, _ := newLog(t, 20)
	log, records, torn := mustOpen(t, path)
	if torn.Dropped() {
		t.Error(torn)
	}
	checkSteps(t, records, 20)
	mustAppend(t, log, 21)
	records, _, err := journal.Read(path) // beside the live writer
	if err != nil {
		t.Fatal(err)
	}
	checkSteps(t, records, 21)
}

func TestFilesArePrivate(t *testing.T) {
	path, _ := newLog(t, 1)
	for path, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
}

func TestSecondWriterIsRefusedUntilTheFirstCloses(t *testing.T) {
	path, _ := newLog(t, 1)
	first, _, _ := mustOpen(t, path)
	_, _, _, err := journal.Open(path)
	var locked *journal.LockedError
	if !errors.As(err, &locked) || locked.Path != path {
		t.Fatalf("second Open gave %v, want a *LockedError for %s", err, path)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, path)
}

func TestAppendAfterCloseIsRefused(t *testing.T) {
	path, _ := newLog(t, 1)
	log, _, _ := mustOpen(t, path)
	for range 2 {
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Append(journal.Record{Kind: "late"}); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestConcurrentAppendsEachGetTheirOwnNumber(t *testing.T) {
	path, _ := newLog(t, 0)
	log, _, _ := mustOpen(t, path)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 5 {
				if err := log.Append(journal.Record{Kind: "k"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	log.Close()
	_, records, _ := mustOpen(t, path)
	if len(records) != 20 {
		t.Errorf("got %d records, want 20", len(records))
	}
}

func TestRecordThatCannotBeWrittenChangesNothing(t *testing.T) {
	path, _ := newLog(t, 0)
	log, _, _ := mustOpen(t, path)
	for name, r := range map[string]journal.Record{
		"no kind":       {},
		"not JSON":      {Kind: "k", Data: []byte("{")},
		"far too large": {Kind: strings.Repeat("k", journal.MaxRecord)},
	} {
		if err := log.Append(r); err == nil {
			t.Errorf("%s: appended", name)
		}
	}
	mustAppend(t, log, 1)
	log.Close()
	_, records, _ := mustOpen(t, path)
	checkSteps(t, records, 1)
}

func TestTruncationAtEveryByteLosesNothingBeforeIt(t *testing.T) {
	_, content := newLog(t, 3)
	ends := frameEnds(content)
	path := filepath.Join(t.TempDir(), "state", "log")
	for size := range len(content) {
		rewrite(t, path, content[:size])
		whole := 0
		for _, end := range ends {
			if end <= size {
				whole++
			}
		}
		log, records, torn, err := journal.Open(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", size, err)
		}
		checkSteps(t, records, whole)
		if clean := size == 0 || bytes.HasSuffix(content[:size], []byte("\n")); torn.Dropped() == clean {
			t.Fatalf("cut at %d: %v", size, torn)
		}
		mustAppend(t, log, whole+1)
		log.Close()
		log, records, torn = mustOpen(t, path)
		if torn.Dropped() {
			t.Fatalf("cut at %d: the torn tail came back: %v", size, torn)
		}
		checkSteps(t, records, whole+1)
		log.Close()
	}
}

func TestGarbageBehindTheLastRecordIsDropped(t *testing.T) {
	_, content := newLog(t, 3)
	path := filepath.Join(t.TempDir(), "state", "log")
	for name, tail := range map[string]string{
		"zeros":         strings.Repeat("\x00", 4096),
		"noise":         "\xff\xfe\n\n00000002 deadbeef {}\n",
		"text":          "two lines\nof text\n",
		"huge length":   "ffffffff 00000000 {",
		"older header":  "codexctl-journal/1\n",
		"negative":      "-0000002 00000000 {}\n",
		"lone line end": "\n",
	} {
		rewrite(t, path, append(bytes.Clone(content), tail...))
		log, records, torn, err := journal.Open(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		log.Close()
		checkSteps(t, records, 3)
		if want := (journal.Torn{Offset: int64(len(content)), Bytes: int64(len(tail))}); torn != want {
			t.Errorf("%s: got %+v, want %+v", name, torn, want)
		}
	}
}

func TestFlippedBitIsTornInTheLastRecordAndCorruptBefore(t *testing.T) {
	_, content := newLog(t, 3)
	ends := frameEnds(content)
	last := ends[len(ends)-2]
	path := filepath.Join(t.TempDir(), "state", "log")
	for at := range len(content) {
		for _, bit := range []byte{0x01, 0x80} {
			flipped := bytes.Clone(content)
			flipped[at] ^= bit
			rewrite(t, path, flipped)
			log, records, torn, err := journal.Open(path)
			if at >= last {
				if err != nil {
					t.Fatalf("bit %#x at %d: %v", bit, at, err)
				}
				log.Close()
				checkSteps(t, records, 2)
				if !torn.Dropped() {
					t.Fatalf("bit %#x at %d: nothing reported", bit, at)
				}
				continue
			}
			var corrupt *journal.CorruptError
			if !errors.As(err, &corrupt) {
				t.Fatalf("bit %#x at %d: got %d records and %v, want a *CorruptError", bit, at, len(records), err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(after, flipped) {
				t.Fatalf("bit %#x at %d: a damaged file was changed", bit, at)
			}
		}
	}
}

func TestMissingAndRepeatedRecordsAreCorruption(t *testing.T) {
	_, content := newLog(t, 3)
	ends := frameEnds(content)
	first, second := content[:ends[0]], content[ends[0]:ends[1]]
	third := content[ends[1]:]
	path := filepath.Join(t.TempDir(), "state", "log")
	for name, parts := range map[string][][]byte{
		"second missing":  {first, third},
		"second repeated": {first, second, second, third},
		"swapped":         {first, third, second},
		"other program's": {[]byte("{\"a\":1}\n")},
		"newer version":   {[]byte("codexctl-journal/3\n")},
	} {
		rewrite(t, path, bytes.Join(parts, nil))
		_, _, _, err := journal.Open(path)
		var corrupt *journal.CorruptError
		if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want a *CorruptError naming %s", name, err, path)
		}
	}
}

func TestReadOfMissingLogIsNotExist(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "log"), filepath.Join(dir, "none", "log")} {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, _, err := journal.Read(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v, want fs.ErrNotExist", path, err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was made by reading", path)
		}
	}
}

func FuzzOpenKeepsWhatItReadsAndTakesMore(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("codexctl-jour"))
	f.Add([]byte("codexctl-journal/1\n"))
	f.Add([]byte("codexctl-journal/1\n00000016 00000000 {\"seq\":1,\"kind\":\"k\"}\n"))
	f.Add([]byte("codexctl-journal/1\n" + strings.Repeat("00000002 00000000 {", 3)))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "state", "log")
		rewrite(t, path, content)
		log, records, torn, err := journal.Open(path)
		if err != nil {
			var corrupt *journal.CorruptError
			if !errors.As(err, &corrupt) {
				t.Fatal(err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(after, content) {
				t.Fatal("a damaged file was changed")
			}
			return
		}
		if kept := int64(len(content)) - torn.Bytes; kept < 0 || (torn.Dropped() && torn.Offset != kept) {
			t.Fatalf("%+v does not add up for %d bytes", torn, len(content))
		}
		if err := log.Append(journal.Record{Kind: "more"}); err != nil {
			t.Fatal(err)
		}
		log.Close()
		log, again, torn, err := journal.Open(path)
		if err != nil || torn.Dropped() {
			t.Fatalf("second Open: %v, %v", torn, err)
		}
		log.Close()
		if diff := cmp.Diff(records, again[:len(again)-1], cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("records changed (-first +second):\n%s", diff)
		}
	})
}

// frameEnds returns where each record of a whole log ends.
func frameEnds(content []byte) (ends []int) {
	header := bytes.IndexByte(content, '\n') + 1
	for at := header; at < len(content); {
		at += bytes.IndexByte(content[at:], '\n') + 1
		ends = append(ends, at)
	}
	return ends
}

// rewrite puts content in place of the log at path.
func rewrite(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(fmt.Errorf("rewrite: %w", err))
	}
}
