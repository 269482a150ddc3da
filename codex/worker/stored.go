package worker

import (
	"path/filepath"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/journal"
)

// Stored is what an identity has on disk, as [ReadStored] finds it.
type Stored struct {
	Identity Identity        // zero before the first owner noted it
	Thread   string          // the native thread; "" before there was one
	Server   codex.ProcessID // the last app-server; zero if it is known to be gone
	Open     []Intent        // mutations without a known outcome
	Torn     journal.Torn    // the tail that the next owner will drop
	Owner    codex.ProcessID // the live process that owns it; zero is none
	Socket   string          // the owner's control socket; "" none

	children []string
}

// ReadStored reads the state in the directory of an identity (see
// [IdentityDir]), beside a live owner if there is one. It takes no lock and
// changes nothing. Without any state the error is fs.ErrNotExist.
func ReadStored(dir string) (Stored, error) {
	records, torn, err := journal.Read(filepath.Join(dir, journalFile))
	if err != nil {
		return Stored{}, err
	}
	h, err := readHistory(records)
	s := Stored{Identity: h.identity, Thread: h.thread, Server: h.server, Open: h.open, Torn: torn, children: h.children}
	if err != nil {
		return s, err
	}
	// Written by an owner at this moment the note may be cut short: that one is
	// just starting.
	if note, err := readNote(dir, ownerFile); err == nil && note.Process.Alive() {
		s.Owner, s.Socket = note.Process, note.Socket
	}
	return s, nil
}

// Append keeps a record of a caller's own kind in the worker's journal, beside the
// worker's. When it returns nil the record is on disk.
func (w *Worker) Append(r journal.Record) error { return w.log.Append(r) }

// Records are the callers' records that earlier owners kept, in order.
func (w *Worker) Records() []journal.Record { return w.kept }
