// Package journal keeps a checksummed, compacted log of small JSON records,
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
// A log that is opened with a [State] does not grow without an end: when most of
// it is of no more use, on opening and while it is written, it is replaced by a
// file with what the State still needs. Whatever cuts that off, the old file or
// the new one is there, whole. Reading never replaces anything.
//
// One Log writes a file at a time, across processes: a second Open fails with
// a *LockedError. The lock goes when the process goes. The file has mode 0600
// in a directory of mode 0700; anything looser, foreign or linked is refused.
// Read needs no lock and never changes the file.
//
// A Log may be used from any goroutine. linux and darwin only.
//
// What is appended stands in the file as it is, prompts and objectives included:
// nothing is masked. The file is for its owner alone (0600).
package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	Stat() (os.FileInfo, error)
	Close() error
}

// Log is the open end of a journal. Make one with Open.
type Log struct {
	path string
	dir  *os.File // that the file is in

	mu        sync.Mutex
	state     State // nil: the log is never compacted
	compactAt int64 // the size at which to see whether it is worth it
	f         file
	end       int64  // where the next frame goes
	seq       uint64 // of the last record
	broken    error
	closed    bool
	buf       []byte
}

// Open opens the log at path for writing, with its directory and the file made
// when missing, and returns the records it holds in order. All of them are on
// disk by then. A torn tail has been cut off and is reported. Such a log is never
// compacted.
//
// Errors: *LockedError, *CorruptError, an error that says which path is not
// private, or the system's own.
func Open(path string) (*Log, []Record, Torn, error) {
	var records []Record
	l, torn, err := open(context.Background(), path, nil, collect(&records))
	return l, records, torn, err
}

// OpenInto opens the log like [Open] and applies each record to state, those that
// are there now and those that are appended later. The log compacts itself by it.
// When ctx ends first the error is its cause.
func OpenInto(ctx context.Context, path string, state State) (*Log, Torn, error) {
	l, torn, err := open(ctx, path, state, state.Apply)
	if err != nil {
		return nil, torn, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// What a compaction that was cut off left beside it.
	_ = private.RemoveAt(l.dir, filepath.Base(path)+newSuffix)
	l.compactLocked()
	if l.broken != nil {
		return nil, torn, errors.Join(l.broken, l.closeLocked())
	}
	return l, torn, nil
}

func open(ctx context.Context, path string, state State, apply func(Record) error) (*Log, Torn, error) {
	dir, err := private.MakeDir(filepath.Dir(path))
	if err != nil {
		return nil, Torn{}, fmt.Errorf("journal: open %s: %w", path, err)
	}
	f, err := openLocked(dir, path)
	if err != nil {
		return nil, Torn{}, errors.Join(err, dir.Close())
	}
	l := &Log{path: path, dir: dir, f: f, state: state, compactAt: slack}
	torn, err := l.recover(ctx, f, apply)
	if err != nil {
		return nil, Torn{}, errors.Join(err, f.Close(), dir.Close())
	}
	return l, torn, nil
}

func collect(records *[]Record) func(Record) error {
	return func(r Record) error {
		*records = append(*records, r)
		return nil
	}
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
func (l *Log) recover(ctx context.Context, f *os.File, apply func(Record) error) (Torn, error) {
	content, err := readAll(f)
	if err != nil {
		return Torn{}, fmt.Errorf("journal: read %s: %w", l.path, err)
	}
	seq, end, torn, err := scan(ctx, l.path, content, apply)
	if err != nil {
		return Torn{}, err
	}
	if torn.Dropped() {
		if err := f.Truncate(end); err != nil {
			return Torn{}, fmt.Errorf("journal: cut the torn tail off %s: %w", l.path, err)
		}
	}
	if end == 0 {
		if err := writeHeader(f); err != nil {
			return Torn{}, fmt.Errorf("journal: begin %s: %w", l.path, err)
		}
		end = int64(len(header))
	}
	// Always: what a killed predecessor wrote may be in the page cache alone,
	// and the caller is about to act on it.
	if err := errors.Join(f.Sync(), l.dir.Sync()); err != nil {
		return Torn{}, fmt.Errorf("journal: sync %s: %w", l.path, err)
	}
	l.end, l.seq = end, seq
	return torn, nil
}

// readAll reads a file in one piece of its size.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	content := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = content.ReadFrom(f)
	return content.Bytes(), err
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
	if l.state != nil {
		if err := l.state.Apply(r); err != nil {
			return l.breakLocked(fmt.Errorf("journal: record %d (%s) of %s: %w", r.Seq, r.Kind, l.path, err))
		}
	}
	l.compactLocked()
	return nil
}

// Do runs f while no record is appended, so that f can change the log's State. The
// log is compacted then if it is worth it.
func (l *Log) Do(f func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := f(); err != nil {
		return err
	}
	if !l.closed {
		l.compactAt = slack
		l.compactLocked()
	}
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
	return l.closeLocked()
}

func (l *Log) closeLocked() error {
	l.closed = true
	unlock(l.f)
	if err := errors.Join(l.f.Close(), l.dir.Close()); err != nil {
		return fmt.Errorf("journal: close %s: %w", l.path, err)
	}
	return nil
}

// Read returns the records of the log at path without taking its lock and
// without changing anything, so it works beside a live owner. A torn tail may
// then be a record that is being written at this moment. A missing file or
// directory is fs.ErrNotExist.
func Read(path string) ([]Record, Torn, error) {
	var records []Record
	torn, err := ReadInto(context.Background(), path, collect(&records))
	return records, torn, err
}

// ReadInto reads the log like [Read] and gives apply each record in order. When ctx
// ends first the error is its cause.
func ReadInto(ctx context.Context, path string, apply func(Record) error) (Torn, error) {
	dir, err := private.OpenDir(filepath.Dir(path))
	if err != nil {
		return Torn{}, fmt.Errorf("journal: read %s: %w", path, err)
	}
	defer dir.Close()
	f, err := private.OpenFileAt(dir, filepath.Base(path), os.O_RDONLY)
	if err != nil {
		return Torn{}, fmt.Errorf("journal: read %s: %w", path, err)
	}
	defer f.Close()
	content, err := readAll(f)
	if err != nil {
		return Torn{}, fmt.Errorf("journal: read %s: %w", path, err)
	}
	_, _, torn, err := scan(ctx, path, content, apply)
	return torn, err
}
