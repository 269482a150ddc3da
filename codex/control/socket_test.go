package control

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/codexctl/codexctl/codex/internal/private"
)

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestSocketPathIsShortAndTheSameForEverybody(t *testing.T) {
	short := SocketPath("/home/user/.local/state/codexctl", "id")
	if short != SocketPath("/home/user/.local/state/codexctl", "id") || filepath.Dir(short) != "/home/user/.local/state/codexctl/run" {
		t.Errorf("got %s", short)
	}
	if short == SocketPath("/home/user/.local/state/codexctl", "other") {
		t.Error("two identities share a socket")
	}
	long := SocketPath("/"+strings.Repeat("d", 200), "id")
	if len(long) > maxSocketPath || long == SocketPath("/"+strings.Repeat("e", 200), "id") {
		t.Errorf("got %s", long)
	}
}

func TestSocketIsPrivateAndGoneAfterwards(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "s")
	l := listen(t, path)
	for p, want := range map[string]fs.FileMode{path: fs.ModeSocket | 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
		info, err := os.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", p, info.Mode(), want)
		}
	}
	l.Close()
	if _, err := Dial(t.Context(), path); !errors.Is(err, ErrNoOwner) {
		t.Errorf("got %v, want ErrNoOwner", err)
	}
}

func TestSocketOfADeadOwnerIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "s")
	dead := listen(t, path).(*listener)
	dead.SetUnlinkOnClose(false)
	dead.Close()
	if _, err := Dial(t.Context(), path); !errors.Is(err, ErrNoOwner) {
		t.Fatalf("got %v, want ErrNoOwner", err)
	}
	listen(t, path)
	conn, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestListenRefusesHostilePlaces(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Join(dir, "open"), 0o755))
	must(os.Chmod(filepath.Join(dir, "open"), 0o777))
	must(os.Symlink(filepath.Join(dir, "open"), filepath.Join(dir, "link")))
	must(os.Mkdir(filepath.Join(dir, "private"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "private", "s"), []byte("precious"), 0o600))
	for _, path := range []string{"open/s", "link/s", "private/s"} {
		_, err := Listen(filepath.Join(dir, path))
		var unsafe *private.UnsafeError
		if !errors.As(err, &unsafe) {
			t.Errorf("%s: got %v, want an *UnsafeError", path, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "private", "s")); err != nil || string(b) != "precious" {
		t.Errorf("a file in the socket's place became %q, %v", b, err)
	}
	if _, err := Listen(filepath.Join(dir, strings.Repeat("x", 120))); err == nil {
		t.Error("a path that is too long was taken")
	}
}

// The kernel tells who is at the other end; here it is always this user, so the
// listener is told to expect another one.
func TestConnectionOfAnotherUserIsDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "s")
	l := listen(t, path).(*listener)
	accepted := make(chan error, 1)
	l.uid = os.Geteuid() + 1
	go func() {
		_, err := l.Accept()
		accepted <- err
	}()
	conn, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Next(t.Context()); err == nil {
		t.Error("the foreign connection got an event")
	}
	conn.Close()
	l.Close()
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept gave %v: it let the connection in", err)
	}
}

// Only root can be somebody else; for all others the test above has to do. The
// directory and the socket are opened wide on purpose: the credentials alone keep
// the intruder out.
func TestAnotherUsersProcessIsDropped(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "run", "s")
	l := listen(t, path)
	b := newFakeBackend()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = serve(t.Context(), b, conn)
		}
	}()
	for p, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o711, dir: 0o711, filepath.Dir(path): 0o711, path: 0o666} {
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "intruder") // one that others may run
	content, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, content, 0o755); err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[uint32]string{0: "was answered", 65534: "was dropped"} {
		cmd := exec.Command(binary)
		cmd.Dir = "/"
		cmd.Env = []string{intruderEnv + "=" + path}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("user %d: %q, %v; want %q", uid, out, err, want)
		}
	}
}

func TestPeerCheckTellsUsersApart(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := socket(t, fds[0]).(*net.UnixConn), socket(t, fds[1])
	defer mine.Close()
	defer theirs.Close()
	if err := checkPeer(mine, os.Geteuid()); err != nil {
		t.Error(err)
	}
	if err := checkPeer(mine, os.Geteuid()+1); !errors.Is(err, ErrForeignPeer) {
		t.Errorf("got %v, want ErrForeignPeer", err)
	}
}

func TestDialHonoursItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "run", "s")
	listen(t, path)
	if _, err := Dial(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
