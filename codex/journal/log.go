// Package journal keeps an append-only, checksummed log of small JSON records,
// one log per identity: the intents and outcomes of mutations and whatever else
// must outlive a process.
//
// It promises that a record whose Append returned nil is on disk and will be
// read again after a kill -9, a crash of the machine or a full disk, whatever
// was being written at the time. A write that was cut short is dropped by the
// next Open and reported as Torn; no whole record before it is lost. Damage
// that a cut-short write cannot explain is a *CorruptError, never a shorter
// log. A record whose Append failed is not in the log, with one exception that
// the error names: when the sync failed, nobody knows what the disk holds, and
// the log takes no more records until it is opened again.
//
// One Log writes a file at a time, across processes: a second Open fails with
// a *LockedError. The lock goes when the process goes. The file has mode 0600
// in a directory of mode 0700; anything looser, foreign or linked is refused.
// Read needs no lock and never changes the file.
//
// A Log may be used from any goroutine. linux and darwin only.
package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/codexctl/codexctl/codex/internal/private"
)

// ErrClosed is returned by Append after Close.
var ErrClosed = errors.New("journal: log is closed")

// LockedError says that another Log, here or in another process, has the file
// open for writing.
type LockedError struct{ Path string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("journal: %s is being written by another owner", e.Path)
}

// BrokenError is what Append returns after a failure that left the file in a
// state nobody can know. Open the log again to learn what it holds.
type BrokenError struct {
	Path string
	Err  error // the failure
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("journal: %s takes no more records until it is opened again: %v", e.Path, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// file is what a Log needs of an *os.File.
type file interface {
	WriteAt(b []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Log is the open end of a journal. Make one with Open.
type Log struct {
	path string

	mu     sync.Mutex
	f      file
	end    int64  // where the next frame goes
	seq    uint64 // of the last record
	broken error
	closed bool
	buf    []byte
}

// Open opens the log at path for writing, with its directory and the file made
// when missing, and returns the records it holds in order. All of them are on
// disk by then. A torn tail has been cut off and is reported.
//
// Errors: *LockedError, *CorruptError, an error that says which path is not
// private, or the system's own.
func Open(path string) (*Log, []Record, Torn, error) {
	dir, err := private.MakeDir(filepath.Dir(path))
	if err != nil {
		return nil, nil, Torn{}, fmt.Errorf("journal: open %s: %w", path, err)
	}
	defer dir.Close()
	f, err := openLocked(dir, path)
	if err != nil {
		return nil, nil, Torn{}, err
	}
	l := &Log{path: path, f: f}
	records, torn, err := l.recover(f, dir)
	if err != nil {
		return nil, nil, Torn{}, errors.Join(err, f.Close())
	}
	return l, records, torn, nil
}

func openLocked(dir *os.File, path string) (*os.File, error) {
	for {
		f, err := private.OpenFileAt(dir, filepath.Base(path), os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, fmt.Errorf("journal: open %s: %w", path, err)
		}
		if err := private.Lock(f); err != nil {
			if errors.Is(err, private.ErrLocked) {
				err = &LockedError{Path: path}
			}
			return nil, errors.Join(err, f.Close())
		}
		if private.Same(f, path) {
			return f, nil
		}
		// Removed or replaced between open and lock: this lock guards nothing.
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("journal: open %s: %w", path, err)
		}
	}
}

// recover reads the file, cuts a torn tail off and makes what is left durable.
func (l *Log) recover(f *os.File, dir *os.File) ([]Record, Torn, error) {
	content, err := io.ReadAll(f)
	if err != nil {
		return nil, Torn{}, fmt.Errorf("journal: read %s: %w", l.path, err)
	}
	records, end, torn, err := scan(l.path, content)
	if err != nil {
		return nil, Torn{}, err
	}
	if torn.Dropped() {
		if err := f.Truncate(end); err != nil {
			return nil, Torn{}, fmt.Errorf("journal: cut the torn tail off %s: %w", l.path, err)
		}
	}
	if end == 0 {
		if err := writeHeader(f); err != nil {
			return nil, Torn{}, fmt.Errorf("journal: begin %s: %w", l.path, err)
		}
		end = int64(len(header))
	}
	// Always: what a killed predecessor wrote may be in the page cache alone,
	// and the caller is about to act on it.
	if err := errors.Join(f.Sync(), dir.Sync()); err != nil {
		return nil, Torn{}, fmt.Errorf("journal: sync %s: %w", l.path, err)
	}
	l.end, l.seq = end, uint64(len(records))
	return records, torn, nil
}

func writeHeader(f file) error {
	if _, err := f.WriteAt([]byte(header), 0); err != nil {
		return errors.Join(err, f.Truncate(0))
	}
	return nil
}

// Append puts one record at the end: one write, one sync. The log gives it its
// Seq; r.Seq is not looked at. On nil the record is on disk.
//
// A full disk or a read-only file system fails with the system's error and
// leaves the log as it was, open for another try. A failed sync, or a failed
// write that could not be taken back, gives a *BrokenError now and from then on.
func (l *Log) Append(r Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return ErrClosed
	case l.broken != nil:
		return l.broken
	}
	r.Seq = l.seq + 1
	frame, err := appendFrame(l.buf[:0], r)
	if err != nil {
		return err
	}
	if cap(frame) <= 64<<10 {
		l.buf = frame
	}
	if _, err := l.f.WriteAt(frame, l.end); err != nil {
		err = fmt.Errorf("journal: append to %s: %w", l.path, err)
		if cut := l.f.Truncate(l.end); cut != nil {
			return l.breakLocked(errors.Join(err, cut))
		}
		return err
	}
	if err := l.f.Sync(); err != nil {
		// After a failed fsync the kernel may have thrown the pages away and
		// call the next one a success: only a fresh read tells what is there.
		err = fmt.Errorf("journal: sync %s, record %d may or may not be there: %w", l.path, r.Seq, err)
		return l.breakLocked(err)
	}
	l.end += int64(len(frame))
	l.seq = r.Seq
	return nil
}

func (l *Log) breakLocked(err error) error {
	l.broken = &BrokenError{Path: l.path, Err: err}
	return l.broken
}

// Path is the file's path, as given to Open.
func (l *Log) Path() string { return l.path }

// Close gives the file and its lock back. Closing twice is harmless.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	// A process that is being forked at this moment has a copy of the file until it
	// executes its program: closing alone would leave the lock with the copy.
	if f, ok := l.f.(*os.File); ok {
		_ = private.Unlock(f)
	}
	if err := l.f.Close(); err != nil {
		return fmt.Errorf("journal: close %s: %w", l.path, err)
	}
	return nil
}

// Read returns the records of the log at path without taking its lock and
// without changing anything, so it works beside a live owner. A torn tail may
// then be a record that is being written at this moment. A missing file or
// directory is fs.ErrNotExist.
func Read(path string) ([]Record, Torn, error) {
	dir, err := private.OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, Torn{}, fmt.Errorf("journal: read %s: %w", path, err)
	}
	defer dir.Close()
	f, err := private.OpenFileAt(dir, filepath.Base(path), os.O_RDONLY)
	if err != nil {
		return nil, Torn{}, fmt.Errorf("journal: read %s: %w", path, err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		return nil, Torn{}, fmt.Errorf("journal: read %s: %w", path, err)
	}
	records, _, torn, err := scan(path, content)
	return records, torn, err
}
