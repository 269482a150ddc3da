package worker

import (
	"context"
	"slices"

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
	h, torn, err := readHistory(context.Background(), dir)
	s := Stored{Identity: h.Identity, Thread: h.Thread, Server: h.Server, Open: h.open(), Torn: torn, children: h.Children}
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

// Records are the callers' records that are in the journal and that no [Worker.Fold]
// has taken, in order.
func (w *Worker) Records() (records []journal.Record) {
	_ = w.log.Do(func() error {
		records = slices.Clone(w.history.others)
		return nil
	})
	return records
}

// Fold gives the callers' records to state, those of earlier owners and from then
// on each that is appended. State says what is kept of them when the journal is
// compacted; without one all are kept. A worker has one such state.
func (w *Worker) Fold(state journal.State) error {
	return w.log.Do(func() error { return w.history.fold(state) })
}
