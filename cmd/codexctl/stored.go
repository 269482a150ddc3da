package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/codexctl/codexctl/codex/worker"
)

// storedAt reads what the site's identity left; nothing is not an error.
func storedAt(at site) (s worker.Stored, found bool, err error) {
	s, err = worker.ReadStored(worker.IdentityDir(at.state, at.identity))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	return s, err == nil, err
}

type identities []worker.Identity

func (ids identities) projects() (names []string) {
	for _, id := range ids {
		names = append(names, id.Key.Project)
	}
	return names
}

// storedLike lists the identities that have state and the directory, session and
// CODEX_HOME of like, and its project if that counts.
func storedLike(state string, like worker.Identity, project bool) (found identities, err error) {
	dir := filepath.Join(state, "workers")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		s, err := worker.ReadStored(filepath.Join(dir, entry.Name()))
		if err != nil {
			continue // it is not the one, or doctor says what is wrong with it
		}
		id := s.Identity
		if !project {
			id.Key.Project = like.Key.Project
		}
		if id == like {
			found = append(found, s.Identity)
		}
	}
	return found, nil
}
