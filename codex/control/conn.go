package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// maxLine bounds a line in either direction, in bytes.
const maxLine = 64 << 20

// sendTimeout bounds the writing of a command, which an owner that reads takes at
// once. A command that was cut short is not carried out, and its stream is of no use
// any more.
const sendTimeout = 30 * time.Second

// errLineTooLong is a line of more than the reader's limit; it has been skipped.
var errLineTooLong = errors.New("the line is too long")

// Conn is a caller's end of a control stream. One goroutine may be in Next, or in Do, while others send.
type Conn struct {
	conn  net.Conn
	in    lineReader
	close func() error // once
}

// NewConn speaks the control wire as a caller over conn.
func NewConn(conn net.Conn) *Conn {
	return &Conn{conn: conn, in: lineReader{r: bufio.NewReader(conn), limit: maxLine}, close: sync.OnceValue(conn.Close)}
}

// Send writes one command. Its result comes among the events.
func (c *Conn) Send(cmd Command) error {
	line, err := cmd.Encode()
	if err != nil {
		return err
	}
	if err := c.conn.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return fmt.Errorf("control: send %s to the owner: %w", cmd.Name, err)
	}
	if _, err := c.conn.Write(line); err != nil {
		return fmt.Errorf("control: send %s to the owner: %w", cmd.Name, err)
	}
	return nil
}

// Next waits for the next event. The end of the stream is io.EOF. When ctx ends
// first nothing is lost: the next call goes on where this one stopped.
func (c *Conn) Next(ctx context.Context) (Event, error) {
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		c.conn.SetReadDeadline(time.Unix(1, 0))
		close(woken)
	})
	line, err := c.in.next()
	if !stop() {
		<-woken
		c.conn.SetReadDeadline(time.Time{})
	}
	if err != nil {
		if ctx.Err() != nil && !errors.Is(err, io.EOF) {
			return Event{}, ctx.Err()
		}
		if errors.Is(err, io.EOF) {
			return Event{}, io.EOF
		}
		return Event{}, fmt.Errorf("control: read from the owner: %w", err)
	}
	return ParseEvent(line)
}

// Do sends one command and waits for its result. Every event that comes
// meanwhile goes to each, the result's own included, unless that is nil. A refusal is a *Refusal; the
// stream's end before the result is io.ErrUnexpectedEOF: the command may have
// been carried out, and asking again with the same id tells.
func (c *Conn) Do(ctx context.Context, cmd Command, each func(Event)) (*Value, error) {
	if err := c.Send(cmd); err != nil {
		return nil, err
	}
	for {
		e, err := c.Next(ctx)
		if err != nil {
			return nil, Lost(cmd, err)
		}
		if each != nil {
			each(e)
		}
		if r, ok := e.Payload.(*CommandResult); ok && r.ID == cmd.ID {
			return r.Unpack()
		}
	}
}

// Lost makes the end of a stream before the result of cmd an error that says so.
// Other errors stay as they are.
func Lost(cmd Command, err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("control: the owner went away before it answered %s: %w", cmd.Name, io.ErrUnexpectedEOF)
}

// Unpack is the value of a command that was carried out, or its *Refusal.
func (r *CommandResult) Unpack() (*Value, error) {
	switch {
	case r.Outcome.Refused != nil:
		return nil, r.Outcome.Refused
	case r.Outcome.Value == nil:
		return &Value{}, nil
	}
	return r.Outcome.Value, nil
}

// Close ends the stream. The operation it watched goes on. Closing twice is
// harmless.
func (c *Conn) Close() error { return c.close() }

// lineReader reads lines of a bounded length and loses nothing when a read
// fails in the middle of one.
type lineReader struct {
	r     *bufio.Reader
	limit int
	part  []byte // of a line whose end has not come
	skip  bool   // the rest of a line that is too long
}

// next returns the next line without its end; it is good until the next call.
// A last line without an end counts.
func (l *lineReader) next() ([]byte, error) {
	for {
		piece, err := l.r.ReadSlice('\n')
		if !l.skip {
			l.part = append(l.part, piece...)
		}
		if len(l.part) > l.limit {
			l.skip, l.part = true, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(l.part) == 0 && !l.skip):
			return nil, err
		case l.skip:
			l.skip = false
			return nil, errLineTooLong
		}
		line := trimLineEnd(l.part)
		l.part = l.part[:0:cap(l.part)]
		if cap(l.part) > 64<<10 {
			l.part = nil
		}
		return line, nil
	}
}

func trimLineEnd(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b
}
