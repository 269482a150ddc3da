package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/codexctl/codexctl/codex/worker"
)

// keyOptions say whose worker a command means.
type keyOptions struct {
	dir     string
	project string
	session string
	thread  string
}

func (o *keyOptions) register(flags *pflag.FlagSet) {
	flags.StringVarP(&o.dir, "cd", "C", "", "the directory that Codex works in (default: this one)")
	flags.StringVar(&o.project, "project", "", "the project (default: the git top level, else the directory)")
	flags.StringVar(&o.session, "session", "", "the session, a name for a line of work (default: $CODEXCTL_SESSION, else \"default\")")
	flags.StringVar(&o.thread, "thread", "", "adopt this native thread")
}

// resolve makes the identity that the options name, for a command that begins work.
// A directory that is not there is a usage error.
func (o keyOptions) resolve(s streams) (worker.Identity, error) {
	dir, err := o.path(s)
	if err != nil {
		return worker.Identity{}, err
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return worker.Identity{}, usageError("there is no directory %s", dir)
	case err != nil:
		return worker.Identity{}, usageError("directory %s: %w", dir, err)
	case !info.IsDir():
		return worker.Identity{}, usageError("%s is not a directory", dir)
	}
	return worker.Identify(o.in(s, dir), nil)
}

// find is resolve for a command that begins no work: a session whose directory is
// gone is found by the path as it is written.
func (o keyOptions) find(s streams, state string) (worker.Identity, error) {
	dir, err := o.path(s)
	if err != nil {
		return worker.Identity{}, err
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return o.resolve(s)
	}
	like, err := worker.IdentifyStored(o.in(s, dir), nil)
	if err != nil {
		return worker.Identity{}, err
	}
	// The git top level that it belonged to may be gone too, so the project comes
	// from what is stored.
	found, err := storedLike(state, like, o.project != "")
	switch {
	case err != nil:
		return worker.Identity{}, err
	case len(found) == 0:
		return worker.Identity{}, usageError("there is no directory %s, and no session %q of one", dir, like.Key.Session)
	case len(found) > 1:
		return worker.Identity{}, usageError("the directory %s is gone, and had the session %q in several projects; name one with --project: %s",
			dir, like.Key.Session, strings.Join(found.projects(), ", "))
	}
	return found[0], nil
}

// path is the directory that the options name. A shell remembers the name of a
// directory that was removed while it was in it.
func (o keyOptions) path(s streams) (string, error) {
	if filepath.IsAbs(o.dir) {
		return filepath.Clean(o.dir), nil
	}
	here, err := os.Getwd()
	if err != nil {
		if here = s.env("PWD"); !filepath.IsAbs(here) {
			return "", usageError("the directory this runs in is gone; name one with --cd: %w", err)
		}
	}
	return filepath.Join(here, o.dir), nil
}

// anywhere is where to run a Codex that is to work nowhere: here, but 0.160.1 does
// not start in a directory that is gone.
func anywhere() string {
	if _, err := os.Getwd(); err != nil {
		return "/"
	}
	return ""
}

// in is the key that the options name in a directory.
func (o keyOptions) in(s streams, dir string) worker.Key {
	key := worker.Key{Dir: dir, Project: o.project, Session: o.session}
	if key.Session == "" {
		key.Session = s.env("CODEXCTL_SESSION")
	}
	if key.Session == "" {
		key.Session = "default"
	}
	if key.Project == "" {
		key.Project = gitTop(dir)
	}
	return key
}

// gitTop is the top level of the work tree that dir is in, or dir itself. It needs
// no git.
func gitTop(dir string) string {
	for at := dir; ; {
		if isGit(filepath.Join(at, ".git")) {
			return at
		}
		parent := filepath.Dir(at)
		if parent == at {
			return dir
		}
		at = parent
	}
}

// isGit reports whether path makes its directory a work tree, as git sees it: a
// repository, or the file that stands for one in linked work trees and
// submodules. The name alone says nothing: while it runs a command in its sandbox,
// 0.160.1 keeps an empty .git in directories that have none, /tmp among them.
func isGit(path string) bool {
	if _, err := os.Stat(filepath.Join(path, "HEAD")); err == nil {
		return true
	}
	content, err := os.ReadFile(path)
	return err == nil && strings.HasPrefix(string(content), "gitdir:")
}

// stateDir is where journals, locks and sockets are kept; environmentTopic
// documents it.
func stateDir(s streams) (string, error) {
	if dir := s.env("CODEXCTL_STATE"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", usageError("CODEXCTL_STATE must be an absolute path, not %q", dir)
		}
		return filepath.Clean(dir), nil
	}
	if dir := s.env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "codexctl"), nil
	}
	home := s.env("HOME")
	if home == "" {
		return "", fmt.Errorf("neither CODEXCTL_STATE nor HOME is set: there is no place for private state")
	}
	return filepath.Join(home, ".local", "state", "codexctl"), nil
}
