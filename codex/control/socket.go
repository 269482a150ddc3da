package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/codexctl/codexctl/codex/internal/private"
)

// maxSocketPath is the longest path that fits a socket's address on every
// system: darwin's holds 104 bytes, the closing zero among them.
const maxSocketPath = 103

// ErrForeignPeer says that the process at the other end of a socket belongs to
// another user.
var ErrForeignPeer = errors.New("the process at the other end belongs to another user")

// SocketPath is where the owner of an identity listens. It depends on nothing
// but its arguments, so that a process with another environment, started by
// cron say, finds the same one: in stateDir where the path is short enough for
// a socket, else in a directory of this user's under /tmp.
func SocketPath(stateDir, identity string) string {
	sum := sha256.Sum256([]byte(stateDir + "\x00" + identity))
	name := hex.EncodeToString(sum[:12]) + ".sock"
	dirs := SocketDirs(stateDir)
	if path := filepath.Join(dirs[0], name); len(path) <= maxSocketPath {
		return path
	}
	return filepath.Join(dirs[1], name)
}

// SocketDirs are where the sockets of stateDir's owners can be: in a directory of
// its own, and in one under /tmp that all state directories of this user share.
func SocketDirs(stateDir string) [2]string {
	return [2]string{filepath.Join(stateDir, "run"), filepath.Join("/tmp", "codexctl-"+strconv.Itoa(os.Geteuid()))}
}

// Listen opens the socket at path, for the holder of the identity's lock alone:
// a socket that is there already was left by a dead owner and is replaced. Its
// directory is made when missing and has to be private. Closing the listener
// removes the socket.
func Listen(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("control: listen on %s: the path is longer than %d bytes; use a shorter state directory", path, maxSocketPath)
	}
	dir, err := private.MakeDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("control: listen on %s: %w", path, err)
	}
	defer dir.Close()
	if err := removeSocket(path); err != nil {
		return nil, fmt.Errorf("control: listen on %s: %w", path, err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	// The private directory keeps others out from the first moment on.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("control: listen on %s: %w", path, err), l.Close())
	}
	return &listener{UnixListener: l, uid: os.Geteuid()}, nil
}

// removeSocket removes a dead owner's socket, and nothing that is no socket.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return &private.UnsafeError{Path: path, Reason: "something that is no socket is in its place", Remedy: "move it out of the way"}
	}
	return os.Remove(path)
}

// listener lets in only processes of one user.
type listener struct {
	*net.UnixListener
	uid int
}

// Accept returns the next connection of the same user and drops all others.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if checkPeer(conn, l.uid) == nil {
			return conn, nil
		}
		if err := conn.Close(); err != nil {
			return nil, err
		}
	}
}

// checkPeer asks the kernel who is at the other end.
func checkPeer(conn *net.UnixConn, want int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("control: peer credentials: %w", err)
	}
	var uid int
	var credErr error
	if err := raw.Control(func(fd uintptr) { uid, credErr = peerUID(int(fd)) }); err != nil {
		return fmt.Errorf("control: peer credentials: %w", err)
	}
	if credErr != nil {
		return fmt.Errorf("control: peer credentials: %w", credErr)
	}
	if uid != want {
		return fmt.Errorf("control: user %d, not %d: %w", uid, want, ErrForeignPeer)
	}
	return nil
}

// ErrNoOwner says that nobody listens: there is no owner, it has not come so
// far yet, or it died and left its socket behind.
var ErrNoOwner = errors.New("no owner is listening")

// Dial connects to the owner at path. With nobody there it is ErrNoOwner.
func Dial(ctx context.Context, path string) (*Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED) {
		return nil, fmt.Errorf("control: %s: %w", path, ErrNoOwner)
	}
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	if err := checkPeer(conn.(*net.UnixConn), os.Geteuid()); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return NewConn(conn), nil
}
