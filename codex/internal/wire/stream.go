package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

// Stream is the line stream beneath a jsonrpc2 connection, and the only user of that connection. jsonrpc2 numbers the
// requests, keeps those that wait for a response, matches responses to them and clears up when the connection ends.
//
// Send, Notify, Answer and Refuse are for one goroutine, the writing one; GiveUp and Close for any.
type Stream struct {
	conn  *jsonrpc2.Conn
	ready chan struct{} // closed once conn is set
	lines *LineReader
	out   io.Writer
	end   func() error
	to    Receiver
	trace func(line []byte, sent bool)

	// What jsonrpc2 is being shown. Used by the reading goroutine only.
	now   Envelope
	owned bool
	long  *LineTooLongError
	stub  []byte
	lost  bool

	// What jsonrpc2 is about to write. Used inside its send lock only.
	req  *jsonrpc2.Request
	resp *jsonrpc2.Response

	responded int // bytes of the last answer that went out; the writing goroutine only

	issued atomic.Uint64 // ids below it have been used

	mu       sync.Mutex
	givenUp  []uint64 // requests to be cleared from jsonrpc2's table
	clearing bool     // the reading goroutine only: a given up request is being cleared
}

// tagField carries an outgoing line through jsonrpc2. It is never written.
const tagField = "outgoing"

type outgoing struct {
	frame   *Frame
	tag     any
	id      uint64
	written int
}

// NewStream begins to read lines. out must write a whole line in one call or say how much it wrote; end ends the
// connection below, after which lines and out fail. trace, if not nil, sees every line of both directions, those sent before
// they are written; a failed write is told to it as a line of text.
func NewStream(lines *LineReader, out io.Writer, end func() error, to Receiver, trace func(line []byte, sent bool)) *Stream {
	if trace == nil {
		trace = func([]byte, bool) {}
	}
	s := &Stream{lines: lines, out: out, end: end, to: to, trace: trace, ready: make(chan struct{})}
	s.conn = jsonrpc2.NewConn(context.Background(), (*objects)(s), (*handler)(s),
		jsonrpc2.OnSend(func(req *jsonrpc2.Request, resp *jsonrpc2.Response) { s.req, s.resp = req, resp }),
		jsonrpc2.OnRecv(s.received),
		jsonrpc2.SetLogger(log.New(io.Discard, "", 0)), // it would log what Stray reports
	)
	close(s.ready)
	return s
}

// Send writes f as a request. written is how many bytes went out when it failed; it is 0 when the connection had ended.
// id is what a request that got no response is given up with.
func (s *Stream) Send(f *Frame, tag any) (id uint64, written int, err error) {
	o := &outgoing{frame: f, tag: tag}
	_, err = s.conn.DispatchCall(context.Background(), "", nil, jsonrpc2.ExtraField(tagField, o))
	return o.id, o.written, err
}

// Notify writes f as a notification.
func (s *Stream) Notify(f *Frame) (written int, err error) {
	o := &outgoing{frame: f}
	err = s.conn.Notify(context.Background(), "", nil, jsonrpc2.ExtraField(tagField, o))
	return o.written, err
}

// Answer writes the result, raw JSON, of the server's request with that raw id.
func (s *Stream) Answer(id []byte, result []byte) (written int, err error) {
	raw := json.RawMessage(result)
	return s.respond(&jsonrpc2.Response{ID: parseID(id), Result: &raw})
}

// Refuse answers the server's request with that raw id with an error.
func (s *Stream) Refuse(id []byte, code int64, message string) (written int, err error) {
	return s.respond(&jsonrpc2.Response{ID: parseID(id), Error: &jsonrpc2.Error{Code: code, Message: message}})
}

// respond must not run twice at a time.
func (s *Stream) respond(resp *jsonrpc2.Response) (written int, err error) {
	s.responded = 0
	err = s.conn.SendResponse(context.Background(), resp)
	return s.responded, err
}

// GiveUp clears a request that waits for no response any more. jsonrpc2 keeps it until it sees a response, so it is shown
// one at the next occasion.
func (s *Stream) GiveUp(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.givenUp = append(s.givenUp, id)
}

// Close ends the connection. The receiver's Lost has been called, or will be, when the reading goroutine notices.
func (s *Stream) Close() error {
	if err := s.conn.Close(); !errors.Is(err, jsonrpc2.ErrClosed) {
		return err
	}
	return nil
}

// objects is the face that the stream shows to jsonrpc2.
type objects Stream

// ReadObject serves every frame that is none of jsonrpc2's business and then fills v with the stub of one that is.
func (o *objects) ReadObject(v any) error {
	s := (*Stream)(o)
	<-s.ready
	if s.lost {
		return io.EOF
	}
	if id, ok := s.nextGivenUp(); ok {
		s.clearing = true
		return s.show(v, append(strconv.AppendUint(append(s.stub[:0], `{"id":`...), id, 10), `,"result":null}`...))
	}
	s.clearing = false
	for {
		line, owned, err := s.lines.Next()
		s.owned, s.long = owned, nil
		switch {
		case err == nil && len(line) == 0:
			continue
		case err == nil:
			s.trace(line, false)
			if s.now.guess(line) && s.to.Notification(&s.now, true) {
				continue
			}
			if err = s.now.Scan(line); err != nil {
				s.to.Noise(line, err)
				continue
			}
		case errors.As(err, &s.long):
			if s.now.ScanPrefix(s.long.Prefix) != nil {
				s.to.TooLong(nil, nil, s.long)
				continue
			}
			if s.now.Kind == Notification || s.now.Kind == Request {
				s.to.TooLong(nil, &s.now, s.long)
				continue
			}
		default:
			s.lost = true
			s.to.Lost(err)
			return io.EOF // jsonrpc2 closes quietly
		}
		switch s.now.Kind {
		case Notification:
			s.to.Notification(&s.now, false)
		case Request:
			return s.show(v, append(append(append(s.stub[:0], `{"id":`...), s.now.ID...), `,"method":"-"}`...))
		default:
			if c := s.now.ID[0]; c == '"' || c == '-' { // never ours
				s.stray(false)
				continue
			}
			return s.show(v, append(append(append(s.stub[:0], `{"id":`...), s.now.ID...), `,"result":null}`...))
		}
	}
}

func (s *Stream) show(v any, stub []byte) error {
	s.stub = stub
	return v.(json.Unmarshaler).UnmarshalJSON(stub)
}

func (s *Stream) nextGivenUp() (id uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.givenUp) == 0 {
		s.givenUp = nil
		return 0, false
	}
	id, s.givenUp = s.givenUp[0], s.givenUp[1:]
	return id, true
}

// received is called by jsonrpc2 between two ReadObject calls, on the same goroutine: wire order holds.
func (s *Stream) received(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	switch {
	case resp == nil || s.clearing:
	case req == nil:
		s.stray(resp.ID.Num < s.issued.Load())
	case s.long != nil:
		s.to.TooLong(req.ExtraFields[0].Value.(*outgoing).tag, &s.now, s.long)
	default:
		s.to.Reply(req.ExtraFields[0].Value.(*outgoing).tag, &s.now, s.owned)
	}
}

func (s *Stream) stray(ours bool) {
	if s.long != nil {
		s.to.TooLong(nil, &s.now, s.long)
		return
	}
	s.to.Stray(&s.now, ours)
}

// handler receives the server's requests from jsonrpc2.
type handler Stream

func (h *handler) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {
	s := (*Stream)(h)
	s.to.Request(&s.now)
}

// WriteObject writes what OnSend announced a moment before under the same lock. jsonrpc2's own encoding is passed by: it
// adds a "jsonrpc" member that the app-server's dialect does not have, and copies large params twice.
func (o *objects) WriteObject(any) error {
	s := (*Stream)(o)
	if s.resp != nil {
		line, err := answerLine(s.resp)
		if err != nil {
			return err
		}
		s.responded, err = s.write(line)
		return err
	}
	out := s.req.ExtraFields[0].Value.(*outgoing)
	if !s.req.Notif {
		out.id = s.req.ID.Num
		s.issued.Store(out.id + 1)
		out.frame.number(out.id)
	}
	var err error
	out.written, err = s.write(out.frame.line)
	return err
}

// write shows the line to the trace first: its answer may be there before Write returns.
func (s *Stream) write(line []byte) (int, error) {
	s.trace(line, true)
	n, err := s.out.Write(line)
	if err != nil {
		s.trace(fmt.Appendf(nil, "of the line before, %d bytes went out: %v", n, err), true)
	}
	return n, err
}

// Close is called by jsonrpc2 when either side has ended the connection.
func (o *objects) Close() error { return o.end() }

func answerLine(resp *jsonrpc2.Response) ([]byte, error) {
	id := strconv.AppendInt(nil, int64(resp.ID.Num), 10)
	if resp.ID.IsString {
		var err error
		if id, err = json.Marshal(resp.ID.Str); err != nil {
			return nil, err
		}
	}
	if resp.Error == nil {
		return replyLine(id, "result", *resp.Result), nil
	}
	failure, err := json.Marshal(resp.Error)
	if err != nil {
		return nil, err
	}
	return replyLine(id, "error", failure), nil
}

func parseID(raw []byte) (id jsonrpc2.ID) {
	if len(raw) > 0 && raw[0] == '"' {
		return jsonrpc2.ID{Str: string(unquote(raw)), IsString: true}
	}
	n, _ := strconv.ParseInt(string(raw), 10, 64) // the scan has checked it
	return jsonrpc2.ID{Num: uint64(n)}
}
