package control

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"
)

// shortOf is a listener that fails with errs, one after the other, and lets a connection in between.
type shortOf struct {
	errs   []error
	conns  chan net.Conn
	closed bool
}

func (l *shortOf) Accept() (net.Conn, error) {
	if len(l.errs) == 0 {
		return <-l.conns, nil
	}
	err := l.errs[0]
	l.errs = l.errs[1:]
	if err == nil {
		return <-l.conns, nil
	}
	return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", err)}
}

func (l *shortOf) Close() error   { l.closed = true; return nil }
func (l *shortOf) Addr() net.Addr { return nil }

func TestAnOwnerShortOfFilesListensAgainAndABrokenListenerIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeWorker()
		c := newTestController(t, w, nil)
		l := &shortOf{errs: []error{unix.EMFILE, unix.ENFILE, unix.ECONNABORTED, nil, unix.EINVAL}, conns: make(chan net.Conn, 1)}
		mine, theirs := net.Pipe()
		l.conns <- theirs
		ended := make(chan error, 1)
		go func() { ended <- c.Accept(t.Context(), l) }()
		conn := NewConn(mine)
		if _, err := conn.Do(t.Context(), Command{ID: "1", Name: GoalShow}, nil); err != nil {
			t.Error(err)
		}
		conn.Close()
		if err := <-ended; !errors.Is(err, unix.EINVAL) || !l.closed {
			t.Errorf("got %v, listener closed: %v", err, l.closed)
		}
		close(w.over)
		c.Close()
	})
}
