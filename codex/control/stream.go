package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/codexctl/codexctl/codex"
)

// maxPending is how many commands of one stream may wait for their results;
// the next one is read when one of them has its own.
const maxPending = 64

// backend is what a stream speaks for.
type backend interface {
	// run names this run of the owner.
	run() string
	// accept takes a command in, in the order of the calls, and returns the wait
	// for its result. The wait ends, however the command fares.
	accept(Command) (wait func() (*Value, error))
	// feed begins a subscription to what happens from now on.
	feed() feed
}

// feed delivers what happens. Next gives io.EOF after the last event, or the
// context's error.
type feed interface {
	Next(ctx context.Context) (Payload, error)
	Close()
}

// Why a stream was closed.
const (
	ClosedByInput = "input ended" // the caller's
	ClosedByOwner = "owner ended"
	ClosedByLag   = "lagged" // the caller was too slow even for what is never left out; the owner goes on
)

// stream is one connection being served. One goroutine reads commands, one takes
// events from the feed, one writes all lines and numbers them, and each command
// in flight has one that waits for its result.
type stream struct {
	backend backend
	conn    io.ReadWriteCloser

	lines chan Payload  // to the writer
	gone  chan struct{} // closed by the writer when the caller cannot be reached any more
	over  chan struct{} // closed when nothing more is read or carried out
	slots chan struct{} // one for each command in flight
}

// serve speaks the wire over conn until the caller's input has ended and all
// results are out, until the feed has ended and likewise, or until conn breaks.
// The end of ctx breaks it. conn is closed by then.
func serve(ctx context.Context, b backend, conn io.ReadWriteCloser) error {
	s := &stream{
		backend: b,
		conn:    conn,
		lines:   make(chan Payload),
		gone:    make(chan struct{}),
		over:    make(chan struct{}),
		slots:   make(chan struct{}, maxPending),
	}
	closeOnce := sync.OnceValue(conn.Close)
	defer context.AfterFunc(ctx, func() { closeOnce() })()

	var group sync.WaitGroup
	var readErr, writeErr, feedErr error
	readDone, feedDone, writeDone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	feedCtx, stopFeed := context.WithCancel(ctx)
	defer stopFeed()
	events := b.feed() // before a command is read: whoever has a result hears of all that happens from then on
	group.Go(func() { defer close(readDone); readErr = s.read() })
	group.Go(func() { defer close(feedDone); feedErr = s.pump(feedCtx, events) })
	group.Go(func() { defer close(writeDone); writeErr = s.write() })

	closed := &StreamClosed{Reason: ClosedByInput}
	select {
	case <-readDone:
	case <-feedDone:
		closed.Reason = ClosedByOwner
		if lagged := (*codex.LaggedError)(nil); errors.As(feedErr, &lagged) {
			closed.Reason = ClosedByLag
		}
	case <-s.gone:
	}
	close(s.over)
	for range maxPending { // every command in flight gets its result out
		s.slots <- struct{}{}
	}
	stopFeed()
	<-feedDone
	s.send(closed)
	close(s.lines)
	<-writeDone
	closeErr := closeOnce() // and with it the reader
	group.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(readErr, feedErr, writeErr, closeErr)
}

// read carries out one command a line until the input ends.
func (s *stream) read() error {
	in := lineReader{r: bufio.NewReader(s.conn), limit: maxLine}
	for {
		line, err := in.next()
		var cmd Command
		switch {
		case errors.Is(err, errLineTooLong):
			cmd.ID, err = UnknownID, malformed("the line is longer than %d bytes", maxLine)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			select {
			case <-s.over: // closed from this side
				return nil
			case <-s.gone:
				return nil
			default:
				return fmt.Errorf("control: read commands: %w", err)
			}
		case len(trimSpace(line)) == 0:
			continue
		default:
			cmd, err = ParseCommand(line)
		}
		select {
		case s.slots <- struct{}{}:
		case <-s.over:
			return nil
		}
		wait := func() (*Value, error) { return nil, err }
		if err == nil {
			wait = s.backend.accept(cmd)
		}
		go func() {
			s.send(result(cmd.ID, wait))
			<-s.slots
		}()
	}
}

func result(id string, wait func() (*Value, error)) *CommandResult {
	value, err := wait()
	if err != nil {
		return &CommandResult{ID: id, Outcome: Outcome{Result: "refused", Refused: refusalOf(err)}}
	}
	return &CommandResult{ID: id, Outcome: Outcome{Result: "ok", Value: value}}
}

// pump sends on what the feed delivers.
func (s *stream) pump(ctx context.Context, events feed) error {
	defer events.Close()
	for {
		payload, err := events.Next(ctx)
		if errors.Is(err, io.EOF) || ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		s.send(payload)
	}
}

// send hands a payload to the writer, or drops it when the caller is gone.
func (s *stream) send(p Payload) {
	select {
	case s.lines <- p:
	case <-s.gone:
	}
}

// write numbers and writes lines until there are no more or conn breaks.
func (s *stream) write() error {
	var seq uint64
	for p := range s.lines {
		seq++
		if closed, ok := p.(*StreamClosed); ok {
			closed.Events = seq - 1
		}
		line, err := Event{Seq: seq, Run: s.backend.run(), Payload: p}.Encode()
		if err == nil {
			_, err = s.conn.Write(line)
		}
		if err != nil {
			close(s.gone)
			return nil // a caller that left is no error of ours
		}
	}
	return nil
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}
