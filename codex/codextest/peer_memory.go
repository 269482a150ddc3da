package codextest

import (
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/codexctl/codexctl/codex"
)

// memoryWire joins a client and a peer in one process. It has no buffer: what the peer does not read is not written, which
// shows the client's write deadlines in their sharpest form.
type memoryWire struct {
	clientIn, peerOut net.Conn // peer to client
	peerIn, clientOut net.Conn // client to peer
	done              chan struct{}
	once              sync.Once
}

var _ codex.Transport = (*memoryWire)(nil)

func newMemoryWire() *memoryWire {
	w := &memoryWire{done: make(chan struct{})}
	w.clientIn, w.peerOut = net.Pipe()
	w.peerIn, w.clientOut = net.Pipe()
	return w
}

func (w *memoryWire) serverSide() peerStreams {
	return peerStreams{in: w.peerIn, out: w.peerOut, stderr: io.Discard}
}

// end is the death of the peer.
func (w *memoryWire) end() {
	w.once.Do(func() {
		_ = w.peerIn.Close()
		_ = w.peerOut.Close()
		close(w.done)
	})
}

func (w *memoryWire) Read(b []byte) (int, error)         { return w.clientIn.Read(b) }
func (w *memoryWire) SetWriteDeadline(t time.Time) error { return w.clientOut.SetWriteDeadline(t) }
func (w *memoryWire) CloseWrite() error                  { return w.clientOut.Close() }
func (w *memoryWire) CloseRead() error                   { return w.clientIn.Close() }
func (w *memoryWire) Done() <-chan struct{}              { return w.done }
func (w *memoryWire) Err() error                         { return nil }
func (w *memoryWire) Process() codex.ProcessID           { return codex.ProcessID{} }

// Write reports a closed pipe as a process's pipe would.
func (w *memoryWire) Write(b []byte) (int, error) {
	n, err := w.clientOut.Write(b)
	if err == io.ErrClosedPipe {
		err = os.ErrClosed
	}
	return n, err
}

// Terminate and Kill are the same to a peer that is not a process.
func (w *memoryWire) Terminate() error { return w.Kill() }

func (w *memoryWire) Kill() error {
	w.end()
	return nil
}
