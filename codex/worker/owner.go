package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/internal/private"
	"github.com/codexctl/codexctl/codex/journal"
)

// ownership is what a process holds while it owns an identity: its journal, whose
// lock is the lock of the key, and the lock of the native thread. Both locks go
// with the process, however it ends, so a dead owner's are free at once. 0.160.1
// has a lock of its own for a thread's writer, but goal changes do not heed it.
type ownership struct {
	dir        string // of the identity
	state      string // the state directory
	home       string // CODEX_HOME
	log        *journal.Log
	thread     *os.File
	generation int // owners of the identity so far, this one included
	note       ownerNote
	noted      *os.File // the file that the note is in
}

// ownerNote tells those who find a lock taken who has it.
type ownerNote struct {
	Process codex.ProcessID `json:"process"`
	Socket  string          `json:"socket,omitempty"`
}

const (
	journalFile = "journal"
	ownerFile   = "owner"
	workersDir  = "workers"
)

// IdentityDir is where the state of an identity is kept under a state directory.
func IdentityDir(stateDir string, id Identity) string {
	return filepath.Join(stateDir, workersDir, id.Hash())
}

// threadsDir is where the locks of native threads are: in the CODEX_HOME they are
// stored in, so that one process owns a thread whatever state directory it keeps.
// A home that is not there has no threads on this machine.
func (o *ownership) threadsDir() (string, error) {
	base := filepath.Join(o.home, "codexctl")
	if info, err := os.Stat(o.home); err != nil || !info.IsDir() {
		base = o.state
	}
	return filepath.Join(base, "threads"), private.MakeGround(base)
}

// own takes the key of an identity, or says who has it.
func own(ctx context.Context, o Options, id Identity) (*ownership, *history, error) {
	own := &ownership{dir: IdentityDir(o.StateDir, id), state: o.StateDir, home: id.CodexHome}
	for _, ground := range []string{o.StateDir, filepath.Dir(own.dir)} {
		if err := private.MakeGround(ground); err != nil {
			return nil, nil, err
		}
	}
	log, h, torn, err := openHistory(ctx, own.dir)
	var locked *journal.LockedError
	if errors.As(err, &locked) {
		return nil, nil, ownedBy(own.dir, ownerFile, fmt.Sprintf("session %q of project %q in %s", id.Key.Session, id.Key.Project, id.Key.Dir))
	}
	if err != nil {
		return nil, nil, err
	}
	if torn.Dropped() {
		o.Logger.Warn("the journal's last record was cut short and dropped", "journal", log.Path(), "tail", torn.String())
	}
	own.log = log
	self, err := codex.IdentifyProcess(os.Getpid())
	if err == nil {
		own.note = ownerNote{Process: self}
		if o.Socket != nil {
			own.note.Socket = o.Socket(id)
		}
		own.noted, err = writeNote(own.dir, ownerFile, own.note)
	}
	if err != nil {
		own.release()
		return nil, nil, err
	}
	return own, h, nil
}

// checkThreadID keeps what cannot be an id of Codex's out of file names.
func checkThreadID(thread string) error {
	other := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if thread == "" || len(thread) > 128 || strings.ContainsFunc(thread, other) {
		return fmt.Errorf("%.40q is not a thread id; `codexctl threads` lists those there are", thread)
	}
	return nil
}

// lockThread takes the native thread, or says who has it.
func (o *ownership) lockThread(thread string) error {
	if err := checkThreadID(thread); err != nil {
		return err
	}
	o.releaseThread()
	threads, err := o.threadsDir()
	if err != nil {
		return err
	}
	dir, err := private.MakeDir(threads)
	if err != nil {
		return err
	}
	defer dir.Close()
	f, err := private.OpenFileAt(dir, thread, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	if err := private.Lock(f); err != nil {
		f.Close()
		if errors.Is(err, private.ErrLocked) {
			return ownedBy(threads, thread, "thread "+thread)
		}
		return err
	}
	b, err := json.Marshal(o.note)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("note the owner in %s: %w", f.Name(), err), f.Close())
	}
	o.thread = f
	return nil
}

func (o *ownership) releaseThread() {
	if o.thread != nil {
		_ = private.Unlock(o.thread) // see journal.Log.Close
		_ = o.thread.Close()
		o.thread = nil
	}
}

func (o *ownership) release() {
	o.releaseThread()
	if o.noted != nil {
		// While the lock still keeps others out, if this is still the file that is
		// locked: another state directory in its place has another owner.
		if path := filepath.Join(o.dir, ownerFile); private.Same(o.noted, path) {
			_ = os.Remove(path)
		}
		_ = o.noted.Close()
	}
	_ = o.log.Close()
}

func ownedBy(dir, name, what string) error {
	e := &OwnedError{What: what}
	// Written by another owner at this moment, it may be cut short: then that one
	// is just starting.
	if note, err := readNote(dir, name); err == nil && note.Process.Alive() {
		e.Owner, e.Socket = note.Process, note.Socket
	}
	return e
}

// writeNote leaves the file open, for whoever wants to know it again.
func writeNote(path, name string, note ownerNote) (*os.File, error) {
	b, err := json.Marshal(note)
	if err != nil {
		return nil, err
	}
	dir, err := private.OpenDir(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := private.OpenFileAt(dir, name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(b); err != nil {
		return nil, errors.Join(fmt.Errorf("note the owner in %s: %w", f.Name(), err), f.Close())
	}
	return f, nil
}

func readNote(path, name string) (ownerNote, error) {
	dir, err := private.OpenDir(path)
	if err != nil {
		return ownerNote{}, err
	}
	defer dir.Close()
	f, err := private.OpenFileAt(dir, name, os.O_RDONLY)
	if err != nil {
		return ownerNote{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return ownerNote{}, err
	}
	var note ownerNote
	return note, json.Unmarshal(b, &note)
}
