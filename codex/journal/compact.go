package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/codexctl/codexctl/codex/internal/private"
)

// State is what the records of a log add up to. The log calls it, one call at a
// time.
type State interface {
	// Apply takes the next record, which is on disk.
	Apply(Record) error
	// Snapshot gives few records that bring a fresh State to where this one is.
	Snapshot() ([]Record, error)
}

// slack is how many bytes a log grows by, at least, before it is written anew.
const slack = 256 << 10

// newSuffix names the file beside a log that is to take its place.
const newSuffix = ".new"

// worth is the size at which a log is to be replaced by a snapshot of n bytes.
func worth(n int) int64 { return int64(n) + max(slack, int64(n)/2) }

// compactLocked replaces the file by what its State still needs, once that is much
// less. A failure before the replacement leaves the log as it was, and it is tried
// again when the log has grown further.
func (l *Log) compactLocked() {
	if l.state == nil || l.broken != nil || l.end < l.compactAt {
		return
	}
	b, seq, err := l.snapshotLocked()
	if err == nil {
		if l.compactAt = worth(len(b)); l.end < l.compactAt {
			return
		}
		err = l.replaceLocked(b, seq)
	}
	if err != nil {
		l.compactAt = l.end + slack
	}
}

// snapshotLocked is the content of a new file.
func (l *Log) snapshotLocked() (b []byte, seq uint64, err error) {
	records, err := l.state.Snapshot()
	if err != nil {
		return nil, 0, err
	}
	b = []byte(compacted)
	for _, r := range records {
		seq++
		r.Seq = seq
		if b, err = appendFrame(b, r); err != nil {
			return nil, 0, err
		}
	}
	return b, seq, nil
}

// replaceLocked puts a new file in the log's place. Cut off at any step it leaves
// the old one or the new one whole. The new one is locked before it has the name:
// who opened the old one before finds, once it has that lock, that the name is
// another file's.
func (l *Log) replaceLocked(b []byte, seq uint64) (err error) {
	name := filepath.Base(l.path)
	if !private.SameAt(l.dir, name, l.f) {
		return fmt.Errorf("journal: %s is not the file that is being written any more", l.path)
	}
	if err := private.RemoveAt(l.dir, name+newSuffix); err != nil {
		return err
	}
	f, err := private.OpenFileAt(l.dir, name+newSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	if err = private.Lock(f); err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = private.RenameAt(l.dir, name+newSuffix, name)
	}
	if err != nil {
		return errors.Join(err, f.Close(), private.RemoveAt(l.dir, name+newSuffix))
	}
	old := l.f
	l.f, l.end, l.seq = f, int64(len(b)), seq
	unlock(old)
	_ = old.Close() // all it held is in the new one
	if err := l.dir.Sync(); err != nil {
		// After a crash the name could be the old file's again, without what comes now.
		return l.breakLocked(fmt.Errorf("journal: sync the directory of %s: %w", l.path, err))
	}
	return nil
}

// unlock gives the lock back even if a process that is being forked at this moment
// has a copy of the file until it executes its program: closing alone would leave
// the lock with the copy.
func unlock(f file) {
	if f, ok := f.(*os.File); ok {
		_ = private.Unlock(f)
	}
}
