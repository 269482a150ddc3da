package journal_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/codexctl/codexctl/codex/journal"
)

// counter is a State: how many steps there were, and the last few.
type counter struct {
	Count int    `json:"count"`
	Last  string `json:"last"`
	fail  error
}

func (c *counter) Apply(r journal.Record) error {
	if r.Kind == "sum" {
		return r.Decode(c)
	}
	c.Count++
	c.Last = string(r.Data)
	return nil
}

func (c *counter) Snapshot() ([]journal.Record, error) {
	r, err := journal.New("sum", c)
	return []journal.Record{r}, errors.Join(err, c.fail)
}

func openCounter(t *testing.T, path string) (*journal.Log, *counter) {
	t.Helper()
	c := &counter{}
	log, _, err := journal.OpenInto(context.Background(), path, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log, c
}

// big is a step that fills the log.
func big(n int) journal.Record {
	return journal.Record{Kind: "step", Data: fmt.Appendf(nil, `"%d %s"`, n, strings.Repeat("x", 64<<10))}
}

func TestALogThatIsWrittenForLongStaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "log")
	log, c := openCounter(t, path)
	for n := range 100 {
		if err := log.Append(big(n)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() > 600<<10 || info.Mode() != 0o600 {
			t.Fatalf("after %d steps: %v, %v", n+1, info, err)
		}
	}
	want := *c
	log.Close()
	if _, c := openCounter(t, path); *c != want || c.Count != 100 {
		t.Errorf("read again it counts %d steps", c.Count)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left in the directory: %v", left)
	}
}

func TestALongLogIsCompactedWhenItIsOpenedAndNotWhenItIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "log")
	log, _, _ := mustOpen(t, path)
	for n := range 20 {
		if err := log.Append(big(n)); err != nil {
			t.Fatal(err)
		}
	}
	log.Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{}
	if _, err := journal.ReadInto(context.Background(), path, c.Apply); err != nil || c.Count != 20 {
		t.Fatalf("%d steps, %v", c.Count, err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
		t.Error("reading changed the log")
	}
	if _, c := openCounter(t, path); c.Count != 20 {
		t.Errorf("%d steps", c.Count)
	}
	if info, _ := os.Stat(path); info.Size() > 100<<10 {
		t.Errorf("it still has %d bytes", info.Size())
	}
}

func TestTheLockOutlivesACompaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "log")
	log, _ := openCounter(t, path)
	old, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	compacted := false
	for n := range 20 {
		if err := log.Append(big(n)); err != nil {
			t.Fatal(err)
		}
		var locked *journal.LockedError
		if _, _, _, err := journal.Open(path); !errors.As(err, &locked) {
			t.Fatalf("after %d steps a second owner: %v", n+1, err)
		}
		now, err := os.Stat(path)
		compacted = compacted || err == nil && !os.SameFile(old, now) // a later file may get the old one's inode
	}
	if !compacted {
		t.Error("it was never compacted")
	}
}

// Whatever of the new file is there when the power goes, before it has the log's
// name, the old log is read; after it, the new one.
func TestCompactionCutOffAnywhereLeavesAWholeLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "log")
	plain, _, _ := mustOpen(t, path)
	for n := range 5 {
		if err := plain.Append(big(n)); err != nil {
			t.Fatal(err)
		}
	}
	mustAppend(t, plain, 1)
	plain.Close()
	old, _ := os.ReadFile(path)
	log, want := openCounter(t, path)
	log.Close()
	whole, _ := os.ReadFile(path)
	if len(whole) >= len(old) {
		t.Fatal("it was not compacted")
	}
	for at := range len(whole) + 1 {
		rewrite(t, path, old)
		rewrite(t, path+".new", whole[:at])
		log, c := openCounter(t, path)
		if *c != *want {
			t.Fatalf("cut at %d: %d steps", at, c.Count)
		}
		mustAppend(t, log, 1)
		log.Close()
		if log, c := openCounter(t, path); c.Count != want.Count+1 {
			t.Fatalf("cut at %d: %d steps afterwards", at, c.Count)
		} else {
			log.Close()
		}
		if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("cut at %d: the cut-off file is still there: %v", at, err)
		}
	}
	// The new one is a log like any other: a cut in its tail is torn, not corrupt.
	rewrite(t, path, append(bytes.Clone(whole), "00000016 0000"...))
	if _, c := openCounter(t, path); *c != *want {
		t.Errorf("behind a torn tail: %d steps", c.Count)
	}
}

func TestALogThatCannotBeCompactedGoesOn(t *testing.T) {
	for name, hinder := range map[string]func(t *testing.T, path string, c *counter){
		"no snapshot": func(_ *testing.T, _ string, c *counter) { c.fail = errors.New("not now") },
		"something has the name of the new file": func(t *testing.T, path string, _ *counter) {
			if err := os.MkdirAll(filepath.Join(path+".new", "in the way"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"the name is another file's": func(t *testing.T, path string, _ *counter) {
			if err := os.Rename(path, path+".moved"); err != nil {
				t.Fatal(err)
			}
			rewrite(t, path, []byte("another file"))
		},
	} {
		path := filepath.Join(t.TempDir(), "state", "log")
		log, c := openCounter(t, path)
		hinder(t, path, c)
		for n := range 20 {
			if err := log.Append(big(n)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		log.Close()
		if name == "the name is another file's" {
			if b, _ := os.ReadFile(path); string(b) != "another file" {
				t.Errorf("%s: it was replaced", name)
			}
			path += ".moved"
		}
		if _, c := openCounter(t, path); c.Count != 20 {
			t.Errorf("%s: %d steps", name, c.Count)
		}
	}
}

func TestOpeningALongLogHeedsItsContext(t *testing.T) {
	path, _ := newLog(t, 3)
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cancel(enough)
	if _, _, err := journal.OpenInto(ctx, path, &counter{}); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	mustOpen(t, path) // its lock is free
}

// A writer whose log is compacted every few records is killed at a random moment.
func TestKilledCompactingWriterLosesNoAcknowledgedRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "log")
	total := 0
	for round := range 25 {
		acknowledged := killCompacting(t, path, total+1+rand.IntN(24))
		log, c := openCounter(t, path)
		log.Close()
		if c.Count < acknowledged || c.Count > acknowledged+1 {
			t.Fatalf("round %d: record %d was the last acknowledged, the log counts %d", round, acknowledged, c.Count)
		}
		total = c.Count
	}
}

func killCompacting(t *testing.T, path string, until int) (acknowledged int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), compactingEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if acknowledged, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
		if acknowledged == until {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || acknowledged < until {
		t.Fatalf("the writer ended by itself at %d: %v", acknowledged, err)
	}
	return acknowledged
}
