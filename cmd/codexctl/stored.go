package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/journal"
	"github.com/codexctl/codexctl/codex/worker"
)

// stored is what an identity left on disk, read beside a live owner if there is
// one.
type stored struct {
	Identity worker.Identity
	Thread   string          // "" before there was one
	Server   codex.ProcessID // the last app-server that is not known to be gone; zero is none
	Open     []worker.Intent // mutations without a known outcome
	Torn     journal.Torn
	Owner    codex.ProcessID // who noted itself as the owner last
	Socket   string
}

// readStored reads the state of the identity in dir. Without any it is
// fs.ErrNotExist.
func readStored(dir string) (stored, error) {
	records, torn, err := journal.Read(filepath.Join(dir, "journal"))
	if err != nil {
		return stored{}, err
	}
	s := stored{Torn: torn}
	for _, r := range records {
		if err := s.take(r); err != nil {
			return s, err
		}
	}
	note, err := os.ReadFile(filepath.Join(dir, "owner"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	var owner struct {
		Process codex.ProcessID `json:"process"`
		Socket  string          `json:"socket"`
	}
	// An owner that is just writing it leaves it half written for a moment.
	if err == nil && json.Unmarshal(note, &owner) == nil {
		s.Owner, s.Socket = owner.Process, owner.Socket
	}
	return s, err
}

// take learns from one record. Kinds that are not of interest here are left out.
func (s *stored) take(r journal.Record) error {
	var rec struct {
		Identity worker.Identity `json:"identity"`
		Process  codex.ProcessID `json:"process"`
		Thread   string          `json:"thread"`
		Intent   int             `json:"intent"`
	}
	switch r.Kind {
	case "owner", "thread", "server", "outcome", "recovered":
		if err := r.Decode(&rec); err != nil {
			return err
		}
	}
	switch r.Kind {
	case "owner":
		s.Identity = rec.Identity
	case "thread":
		s.Thread = rec.Thread
	case "server":
		s.Server = rec.Process
	case "serverEnd":
		s.Server = codex.ProcessID{}
	case "intent":
		var in worker.Intent
		if err := r.Decode(&in); err != nil {
			return err
		}
		s.Open = append(s.Open, in)
	case "outcome", "recovered":
		for i, in := range s.Open {
			if in.ID == rec.Intent {
				s.Open = append(s.Open[:i:i], s.Open[i+1:]...)
				break
			}
		}
	}
	return nil
}

// storedAt reads what the site's identity left; nothing is not an error.
func storedAt(at site) (s stored, found bool, err error) {
	s, err = readStored(worker.IdentityDir(at.state, at.identity))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	return s, err == nil, err
}
