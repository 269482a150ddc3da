package private

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// OpenFileAt opens the private regular file name in the open directory dir for
// the given access (os.O_RDONLY, os.O_RDWR …). With os.O_CREATE a missing file
// is made with mode 0600; syncing the directory is the caller's.
func OpenFileAt(dir *os.File, name string, flag int) (*os.File, error) {
	path := filepath.Join(dir.Name(), name)
	fd, err := retry(func() (int, error) {
		// O_NONBLOCK: a FIFO put in the file's place must not block the open.
		return unix.Openat(int(dir.Fd()), name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
	})
	return opened(fd, err, path, unix.S_IFREG, onlyUser)
}

// ErrLocked says that another open file, here or in another process, holds the lock.
var ErrLocked = errors.New("locked by another holder")

// Lock takes the exclusive advisory lock of f without waiting. It is held
// until f is closed or the process is gone, however it goes.
func Lock(f *os.File) error {
	_, err := retry(func() (struct{}, error) {
		return struct{}{}, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	})
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	if err != nil {
		return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return nil
}

// Unlock gives the lock of f back early.
func Unlock(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
		return &fs.PathError{Op: "unlock", Path: f.Name(), Err: err}
	}
	return nil
}

// Same reports whether path still names the open file f: somebody may have
// removed or replaced it between the open and the lock.
func Same(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(open, named)
}

// SameAt reports whether name in the open directory dir is the open file f.
func SameAt(dir *os.File, name string, f interface{ Stat() (fs.FileInfo, error) }) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := OpenFileAt(dir, name, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer named.Close()
	info, err := named.Stat()
	return err == nil && os.SameFile(open, info)
}

// RenameAt gives a file in the open directory dir another name there, in place of
// what has that name.
func RenameAt(dir *os.File, from, to string) error {
	fd := int(dir.Fd())
	if err := unix.Renameat(fd, from, fd, to); err != nil {
		return &fs.PathError{Op: "rename", Path: filepath.Join(dir.Name(), from), Err: err}
	}
	return nil
}

// RemoveAt removes a file from the open directory dir. A missing one is no error.
func RemoveAt(dir *os.File, name string) error {
	if err := unix.Unlinkat(int(dir.Fd()), name, 0); err != nil && err != unix.ENOENT {
		return &fs.PathError{Op: "remove", Path: filepath.Join(dir.Name(), name), Err: err}
	}
	return nil
}
