package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// faulty is a real file whose next calls fail as told.
type faulty struct {
	*os.File
	room              int // bytes that the next write gets through, when writeErr is set
	writeErr, syncErr error
	truncateErr       error
}

func (f *faulty) WriteAt(b []byte, off int64) (int, error) {
	if f.writeErr == nil {
		return f.File.WriteAt(b, off)
	}
	n, err := f.File.WriteAt(b[:min(f.room, len(b))], off)
	return n, errors.Join(err, f.writeErr)
}

func (f *faulty) Sync() error {
	if f.syncErr != nil {
		return f.syncErr
	}
	return f.File.Sync()
}

func (f *faulty) Truncate(size int64) error {
	if f.truncateErr != nil {
		return f.truncateErr
	}
	return f.File.Truncate(size)
}

func openFaulty(t *testing.T) (*Log, *faulty) {
	t.Helper()
	log, _, _, err := Open(filepath.Join(t.TempDir(), "state", "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	f := &faulty{File: log.f.(*os.File)}
	log.f = f
	if err := log.Append(Record{Kind: "first"}); err != nil {
		t.Fatal(err)
	}
	return log, f
}

func kinds(t *testing.T, log *Log) (kinds []string) {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	again, records, torn, err := Open(log.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if torn.Dropped() {
		t.Errorf("a failed append left something behind: %v", torn)
	}
	for _, r := range records {
		kinds = append(kinds, r.Kind)
	}
	return kinds
}

func TestFailedWriteLeavesNoHalfRecord(t *testing.T) {
	for _, room := range []int{0, 1, 17, 30} {
		for _, errno := range []error{unix.ENOSPC, unix.EROFS, unix.EIO, io.ErrShortWrite} {
			log, f := openFaulty(t)
			f.room, f.writeErr = room, errno
			if err := log.Append(Record{Kind: "refused"}); !errors.Is(err, errno) {
				t.Fatalf("got %v, want %v", err, errno)
			}
			f.writeErr = nil
			if err := log.Append(Record{Kind: "second"}); err != nil {
				t.Fatalf("after %v: %v", errno, err)
			}
			if got := kinds(t, log); len(got) != 2 || got[1] != "second" {
				t.Errorf("after %v the log holds %v", errno, got)
			}
		}
	}
}

func TestLogTakesNoMoreWhenItsStateIsUnknown(t *testing.T) {
	for name, breakIt := range map[string]func(*faulty){
		"sync failed":         func(f *faulty) { f.syncErr = unix.EIO },
		"could not take back": func(f *faulty) { f.room, f.writeErr, f.truncateErr = 9, unix.ENOSPC, unix.EIO },
	} {
		log, f := openFaulty(t)
		breakIt(f)
		for range 2 {
			var broken *BrokenError
			if err := log.Append(Record{Kind: "k"}); !errors.As(err, &broken) || !errors.Is(err, unix.EIO) {
				t.Errorf("%s: got %v, want a *BrokenError for EIO", name, err)
			}
			*f = faulty{File: f.File} // well again, but what is on disk is still unknown
		}
		log.Close()
		again, records, _, err := Open(log.Path())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(records) == 0 || records[0].Kind != "first" {
			t.Errorf("%s: the acknowledged record is gone: %v", name, records)
		}
		again.Close()
	}
}
