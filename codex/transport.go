package codex

import "time"

// Transport is a running app-server as the client sees it. [Start] spawns one unless Options.Dial supplies another, such as
// a codextest.Peer.
//
// If it has a method Pending() bool, that says whether something waits to be read, or was read and not yet dealt with, which
// is over when Read is called again and finds nothing. A deadline is not judged before then.
//
// Read is called from one goroutine and Write from another; the rest from any. Write takes a whole line: it writes it or
// says how many bytes went out before the error.
type Transport interface {
	// Read reads what the server writes. After the server is gone it must come to an end with io.EOF or another error.
	Read(p []byte) (n int, err error)
	// Write writes to the server. With a write deadline in the past it returns without having written more.
	Write(p []byte) (n int, err error)
	// SetWriteDeadline bounds the Write calls that follow and one that is blocked.
	SetWriteDeadline(t time.Time) error
	// CloseWrite ends the server's input, which asks it to finish. A blocked Write returns.
	CloseWrite() error
	// CloseRead lets go of the server's output. Read is not called any more, or a blocked one is to return.
	CloseRead() error
	// Terminate asks the server to end more firmly, as SIGTERM does.
	Terminate() error
	// Kill ends the server and all it has started, at once.
	Kill() error
	// Done is closed when the server is gone.
	Done() <-chan struct{}
	// Err says, after Done, how the server ended and what it last wrote to stderr; nil when there is nothing to say.
	Err() error
	// Process identifies the server's process. The zero value means that there is none of its own.
	Process() ProcessID
}
