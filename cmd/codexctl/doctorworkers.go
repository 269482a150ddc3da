package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/worker"
)

// workers looks at every stored identity: owners, app-servers that outlived
// theirs, and mutations whose outcome nobody knows.
func (c *checkup) workers(state string) {
	dir := filepath.Join(state, "workers")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.fail("sessions", err.Error(), "name another place with CODEXCTL_STATE", exitFailed)
		return
	}
	for _, entry := range entries {
		s, err := worker.ReadStored(filepath.Join(dir, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			c.fail("session", oneLine(err), "see the message; nothing was changed", exitFailed)
			continue
		}
		c.session(s)
		for _, o := range s.Orphans(state) {
			c.warn("process", fmt.Sprintf("%q in %s left %d running: %s", s.Identity.Key.Session, s.Identity.Key.Dir, o.PID, o.Name),
				fmt.Sprintf("if it is not meant to run: kill %d", o.PID))
		}
	}
}

func (c *checkup) session(s worker.Stored) {
	key := s.Identity.Key
	name := fmt.Sprintf("%q in %s", key.Session, key.Dir)
	owned := s.Owner != (codex.ProcessID{})
	look := "run: codexctl status " + keyFlags(key)
	switch {
	case owned:
		c.ok("owner", fmt.Sprintf("%s: process %d", name, s.Owner.PID))
	case s.Server.Alive():
		c.warn("app-server", fmt.Sprintf("%s: process %d outlived its owner", name, s.Server.PID),
			fmt.Sprintf("it ends by itself in a moment; if not: kill %d", s.Server.PID))
	default:
		c.ok("session", name+": nobody owns it")
	}
	if _, err := os.Stat(key.Dir); errors.Is(err, fs.ErrNotExist) && key.Dir != "" {
		c.warn("directory", name+": the directory is gone", withoutDirectory(key, owned))
	}
	if len(s.Open) > 0 && !owned {
		c.warn("intents", fmt.Sprintf("%s: %d without a known outcome, the last %s", name, len(s.Open), s.Open[len(s.Open)-1].Method), look)
	}
	if s.Torn.Dropped() && !owned {
		c.warn("journal", name+": its last record was cut short", "nothing to do: the next owner drops it")
	}
}

// withoutDirectory is what to do about a session whose directory is gone.
func withoutDirectory(key worker.Key, owned bool) string {
	if owned {
		return "to end it: codexctl stop --owner " + keyFlags(key)
	}
	return "to forget its goal: codexctl goal clear " + keyFlags(key)
}

func keyFlags(key worker.Key) string {
	return fmt.Sprintf("--cd %s --project %s --session %s", key.Dir, key.Project, key.Session)
}
