package main

import (
	"errors"
	"io/fs"

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
