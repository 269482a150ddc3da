// Package private opens directories and files that only this user may reach:
// where journals, locks and sockets are.
//
// What it opens belongs to the effective user, is a real directory or a regular
// file (never a symbolic link), and grants nothing to group or others. Anything
// else is refused with an *UnsafeError that names the path, what is wrong with
// it and the remedy; nothing is repaired behind the user's back, because what
// an attacker prepared must not be put in order and then trusted. Checks are
// made on the open descriptor, so that a path swapped in between is not
// followed. All functions may be called from any goroutine.
package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// UnsafeError reports a path that somebody else could read, replace or control.
type UnsafeError struct {
	Path   string
	Reason string // what is wrong with it
	Remedy string // what the user can do about it
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("%s is not private: %s; %s", e.Path, e.Reason, e.Remedy)
}

// MakeDir opens the private directory path. A missing one is made with mode
// 0700, and so are its missing parents; its entry is synced to disk.
func MakeDir(path string) (*os.File, error) {
	d, err := OpenDir(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	parent := filepath.Dir(filepath.Clean(path))
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", parent, err)
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	if err := syncDir(parent); err != nil {
		return nil, err
	}
	return OpenDir(path)
}

// MakeGround makes sure of a directory that private ones lie in: like MakeDir, but
// others may look at it. Who could write there could put another directory in the
// place of a private one.
func MakeGround(path string) error {
	d, err := openDir(path, unix.S_IWGRP|unix.S_IWOTH)
	if errors.Is(err, fs.ErrNotExist) {
		d, err = MakeDir(path)
	}
	if err != nil {
		return err
	}
	return d.Close()
}

// OpenDir opens the private directory path, which has to exist. The open
// directory serves OpenFileAt and Sync.
func OpenDir(path string) (*os.File, error) { return openDir(path, onlyUser) }

// onlyUser are the rights that nobody but the user may have.
const onlyUser = unix.S_IRWXG | unix.S_IRWXO

func openDir(path string, without uint32) (*os.File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	return opened(fd, err, path, unix.S_IFDIR, without)
}

// opened takes what an open of path gave, and refuses what is not of the kind, not
// this user's or grants one of the rights that it must be without.
func opened(fd int, err error, path string, kind, without uint32) (*os.File, error) {
	switch {
	case err == nil:
	case isSymlink(path):
		return nil, symlinkError(path)
	default:
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	if err := check(f, kind, without); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	if err := d.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync %s: %w", path, err), d.Close())
	}
	return d.Close()
}

func isSymlink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func symlinkError(path string) error {
	return &UnsafeError{
		Path:   path,
		Reason: "it is a symbolic link",
		Remedy: "remove the link, or name the place that it points to",
	}
}

// check holds an open descriptor against the package's rules. Root is not
// exempt: a file of another user is as wrong for root as for anyone.
func check(f *os.File, kind, without uint32) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	// Mode is 16 bits wide on darwin and 32 on linux.
	mode := uint32(st.Mode)
	if mode&unix.S_IFMT != kind {
		return &UnsafeError{Path: f.Name(), Reason: "it is not " + kindName(kind), Remedy: "move it out of the way"}
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return &UnsafeError{
			Path:   f.Name(),
			Reason: fmt.Sprintf("it belongs to user %d, not to you (%d)", st.Uid, uid),
			Remedy: "remove it, or name another state directory",
		}
	}
	if mode&without != 0 {
		return &UnsafeError{
			Path:   f.Name(),
			Reason: fmt.Sprintf("its mode is %04o, which lets others in", mode&0o7777),
			Remedy: fmt.Sprintf("look at what is in it, then run: chmod go-rwx %s", f.Name()),
		}
	}
	return nil
}

func kindName(kind uint32) string {
	if kind == unix.S_IFDIR {
		return "a directory"
	}
	return "a regular file"
}

// retry repeats a system call that a signal interrupted.
func retry[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if err != unix.EINTR {
			return v, err
		}
	}
}
