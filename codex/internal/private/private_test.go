package private_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/codexctl/codexctl/codex/internal/private"
)

func privateDir(t *testing.T) (string, *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a", "b")
	dir, err := private.MakeDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return path, dir
}

func wantUnsafe(t *testing.T, err error, path, reason string) {
	t.Helper()
	var unsafe *private.UnsafeError
	if !errors.As(err, &unsafe) || unsafe.Path != path || !strings.Contains(unsafe.Reason, reason) || unsafe.Remedy == "" {
		t.Errorf("got %v, want an *UnsafeError for %s: %s", err, path, reason)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMissingDirectoryIsMadeForThisUserAlone(t *testing.T) {
	path, _ := privateDir(t)
	for _, p := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(p)
		must(t, err)
		if info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
	}
	again, err := private.MakeDir(path)
	must(t, err)
	must(t, again.Close())
}

func TestOpenDirMakesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing")
	if _, err := private.OpenDir(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func TestDirectoryThatOthersReachIsRefused(t *testing.T) {
	for _, mode := range []fs.FileMode{0o755, 0o770, 0o702, 0o710} {
		path, _ := privateDir(t)
		must(t, os.Chmod(path, mode))
		_, err := private.MakeDir(path)
		wantUnsafe(t, err, path, "mode")
	}
}

func TestGroundMayBeReadButNotWrittenByOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	must(t, private.MakeGround(path))
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("made with mode %v, %v", info.Mode(), err)
	}
	for _, mode := range []fs.FileMode{0o755, 0o711, 0o700} {
		must(t, os.Chmod(path, mode))
		must(t, private.MakeGround(path))
	}
	for _, mode := range []fs.FileMode{0o777, 0o775, 0o702, fs.ModeSticky | 0o777} {
		must(t, os.Chmod(path, mode))
		wantUnsafe(t, private.MakeGround(path), path, "mode")
	}
	must(t, os.Chmod(path, 0o700))
	link := filepath.Join(filepath.Dir(path), "link")
	must(t, os.Symlink(path, link))
	wantUnsafe(t, private.MakeGround(link), link, "symbolic link")
}

func TestLinkedDirectoryAndFileAreRefused(t *testing.T) {
	path, dir := privateDir(t)
	link := filepath.Join(filepath.Dir(path), "link")
	must(t, os.Symlink(path, link))
	_, err := private.MakeDir(link)
	wantUnsafe(t, err, link, "symbolic link")

	for _, target := range []string{"/etc/hostname", "nowhere"} {
		file := filepath.Join(path, "to-"+filepath.Base(target))
		must(t, os.Symlink(target, file))
		_, err = private.OpenFileAt(dir, filepath.Base(file), os.O_RDWR|os.O_CREATE)
		wantUnsafe(t, err, file, "symbolic link")
	}
}

func TestForeignOwnerIsRefused(t *testing.T) {
	path := "/usr" // root's, for anyone but root
	if os.Geteuid() == 0 {
		path, _ = privateDir(t)
		must(t, os.Chown(path, 65534, 65534))
	}
	_, err := private.MakeDir(path)
	wantUnsafe(t, err, path, "belongs to user")
}

func TestThingsThatAreNotFilesAreRefused(t *testing.T) {
	path, dir := privateDir(t)
	must(t, os.Mkdir(filepath.Join(path, "dir"), 0o700))
	must(t, unix.Mkfifo(filepath.Join(path, "fifo"), 0o600))
	for _, name := range []string{"dir", "fifo"} {
		_, err := private.OpenFileAt(dir, name, os.O_RDONLY)
		wantUnsafe(t, err, filepath.Join(path, name), "not a regular file")
	}
	must(t, os.WriteFile(filepath.Join(path, "file"), nil, 0o600))
	if _, err := private.OpenDir(filepath.Join(path, "file")); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("got %v, want ENOTDIR", err)
	}
}

func TestFileThatOthersReachIsRefused(t *testing.T) {
	path, dir := privateDir(t)
	file := filepath.Join(path, "file")
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620} {
		must(t, os.WriteFile(file, nil, 0o600))
		must(t, os.Chmod(file, mode))
		_, err := private.OpenFileAt(dir, "file", os.O_RDWR)
		wantUnsafe(t, err, file, "mode")
	}
}

func TestLockIsExclusiveUntilGivenBack(t *testing.T) {
	path, dir := privateDir(t)
	open := func() *os.File {
		f, err := private.OpenFileAt(dir, "lock", os.O_RDWR|os.O_CREATE)
		must(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	must(t, private.Lock(first))
	if err := private.Lock(second); !errors.Is(err, private.ErrLocked) {
		t.Fatalf("got %v, want ErrLocked", err)
	}
	must(t, private.Unlock(first))
	must(t, private.Lock(second))
	must(t, second.Close())
	must(t, private.Lock(first))

	if !private.Same(first, filepath.Join(path, "lock")) {
		t.Error("the file is not the one its path names")
	}
	must(t, os.Remove(filepath.Join(path, "lock")))
	open()
	if private.Same(first, filepath.Join(path, "lock")) {
		t.Error("a replaced file passes for the one that was opened")
	}
}
