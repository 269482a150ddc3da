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

	"github.com/sourcegraph/jsonrpc2"
)

// Stream is the line stream beneath a jsonrpc2 connection, and the only user of that connection. jsonrpc2 numbers the
// requests, keeps the books of those that wait, takes the answers to the server's requests and ends with the connection.
// Notifications and server requests pass it by. Of a response it sees a stub with the id, on a goroutine of its own, after
// the receiver has got the payload: as it comes it would decode each response three times before anybody hears of it.
//
// Send, TrySend, Notify, Answer and Refuse are for one goroutine at a time; GiveUp and Close for any.
type Stream struct {
	conn  *jsonrpc2.Conn
	lines *LineReader
	out   io.Writer
	to    Receiver
	trace func(line []byte, sent bool)

	// What jsonrpc2 is about to write. Used inside its send lock only.
	req  *jsonrpc2.Request
	resp *jsonrpc2.Response

	responded int      // bytes of the last answer that went out; used by the one that writes
	telling   []uint64 // what is left of a batch of over; used by jsonrpc2's reading goroutine only

	mu      sync.Mutex
	waiting map[uint64]any // the tags of the requests that wait for a response, by id
	issued  uint64         // ids below it have been used
	over    []uint64       // requests that wait no longer, of which jsonrpc2 is to be told
	ended   bool
	news    chan struct{} // has a token when over is long or ended is set
}

// overBatch is how many requests that are over jsonrpc2 is told of at a time. Telling costs it more than the rest of a call.
const overBatch = 32

// tagField carries an outgoing line through jsonrpc2. It is never written.
const tagField = "outgoing"

type outgoing struct {
	frame   *Frame
	tag     any
	id      uint64
	written int
	try     bool
}

// NewStream begins to read lines, which must fail when the connection below has ended. out must write a whole line in one
// call or say how much it wrote. trace, if not nil, sees every line of both directions, those sent before they are written;
// a failed write is told to it as a line of text.
func NewStream(lines *LineReader, out io.Writer, to Receiver, trace func(line []byte, sent bool)) *Stream {
	if trace == nil {
		trace = func([]byte, bool) {}
	}
	s := &Stream{lines: lines, out: out, to: to, trace: trace, waiting: make(map[uint64]any), news: make(chan struct{}, 1)}
	s.conn = jsonrpc2.NewConn(context.Background(), (*objects)(s), unused{},
		jsonrpc2.OnSend(func(req *jsonrpc2.Request, resp *jsonrpc2.Response) { s.req, s.resp = req, resp }),
		jsonrpc2.SetLogger(log.New(io.Discard, "", 0)),
	)
	go s.read()
	return s
}

// ErrWouldWait says that nothing was written because the write would have had to wait.
var ErrWouldWait = errors.New("the write would have to wait")

// TryWriter is an output that can write a line without waiting.
type TryWriter interface {
	// TryWrite writes all of p, or nothing and returns [ErrWouldWait], or fails without having written.
	TryWrite(p []byte) error
}

// TrySend is [Stream.Send] for an output that is a [TryWriter]: it does not wait. The trace does not see the line.
func (s *Stream) TrySend(f *Frame, tag any) (id uint64, err error) {
	o := &outgoing{frame: f, tag: tag, try: true}
	_, err = s.conn.DispatchCall(context.Background(), "", nil, jsonrpc2.ExtraField(tagField, o))
	return o.id, err
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

func (s *Stream) respond(resp *jsonrpc2.Response) (written int, err error) {
	s.responded = 0
	err = s.conn.SendResponse(context.Background(), resp)
	return s.responded, err
}

// GiveUp forgets a request that waits for its response no longer. If that comes after all it is a stray one.
func (s *Stream) GiveUp(id uint64) { s.settle(id) }

// Close ends jsonrpc2's part. The receiver's Lost is called when the lines have come to their end.
func (s *Stream) Close() error {
	if err := s.conn.Close(); !errors.Is(err, jsonrpc2.ErrClosed) {
		return err
	}
	return nil
}

// settle takes a request off the books, and reports whether it was on them.
func (s *Stream) settle(id uint64) (tag any, waited bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tag, waited = s.waiting[id]
	if waited {
		delete(s.waiting, id)
		if s.over = append(s.over, id); len(s.over) >= overBatch {
			s.wakeLocked()
		}
	}
	return tag, waited
}

func (s *Stream) wakeLocked() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// read hands every line to the receiver, in wire order.
func (s *Stream) read() {
	var e Envelope
	for {
		line, owned, err := s.lines.Next()
		switch {
		case err == nil && len(line) == 0:
		case err == nil:
			s.trace(line, false)
			if e.guess(line) && s.to.Notification(&e, true) {
				continue
			}
			if err := e.Scan(line); err != nil {
				s.to.Noise(line, err)
				continue
			}
			s.hand(&e, owned)
		case s.survives(&e, err):
		default:
			s.to.Lost(err)
			s.mu.Lock()
			s.ended = true
			s.wakeLocked()
			s.mu.Unlock()
			return
		}
	}
}

func (s *Stream) hand(e *Envelope, owned bool) {
	switch e.Kind {
	case Notification:
		s.to.Notification(e, false)
	case Request:
		s.to.Request(e)
	default:
		if tag, waited, ours := s.match(e); waited {
			s.to.Reply(tag, e, owned)
		} else {
			s.to.Stray(e, ours)
		}
	}
}

// survives reports a line that was too long; any other error is the end.
func (s *Stream) survives(e *Envelope, err error) bool {
	var long *LineTooLongError
	if !errors.As(err, &long) {
		return false
	}
	if e.ScanPrefix(long.Prefix) != nil {
		s.to.TooLong(nil, nil, long)
		return true
	}
	var tag any
	if e.Kind == Result || e.Kind == Failure {
		tag, _, _ = s.match(e)
	}
	s.to.TooLong(tag, e, long)
	return true
}

// match finds the request that a response is for. ours says that its id was used for one, now or before.
func (s *Stream) match(e *Envelope) (tag any, waited, ours bool) {
	id, err := strconv.ParseUint(string(e.ID), 10, 64)
	if err != nil { // a string or a negative number, neither of which jsonrpc2 gives out
		return nil, false, false
	}
	tag, waited = s.settle(id)
	if !waited {
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, false, id < s.issued
	}
	return tag, true, true
}

// objects is the face that the stream shows to jsonrpc2.
type objects Stream

// ReadObject fills v with the stub of a response to a request that is over. jsonrpc2 keeps each request until it has seen
// one, also those that nobody waits for.
func (o *objects) ReadObject(v any) error {
	s := (*Stream)(o)
	for len(s.telling) == 0 {
		s.mu.Lock()
		ended := s.ended
		if len(s.over) >= overBatch {
			s.telling, s.over = s.over, nil
		}
		s.mu.Unlock()
		if ended {
			return io.EOF
		}
		if len(s.telling) == 0 {
			<-s.news
		}
	}
	stub := append(make([]byte, 0, 64), `{"id":`...)
	stub = append(strconv.AppendUint(stub, s.telling[0], 10), `,"result":null}`...)
	s.telling = s.telling[1:]
	return v.(json.Unmarshaler).UnmarshalJSON(stub)
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
	if s.req.Notif {
		var err error
		out.written, err = s.write(out.frame.line)
		return err
	}
	out.id = s.req.ID.Num
	out.frame.number(out.id)
	s.mu.Lock()
	s.issued = out.id + 1
	s.waiting[out.id] = out.tag
	s.mu.Unlock()
	var err error
	if out.try {
		err = s.out.(TryWriter).TryWrite(out.frame.line)
	} else {
		out.written, err = s.write(out.frame.line)
	}
	if err != nil { // jsonrpc2 forgets it too
		s.mu.Lock()
		delete(s.waiting, out.id)
		s.mu.Unlock()
	}
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

// Close is called by jsonrpc2 when it has closed.
func (o *objects) Close() error {
	s := (*Stream)(o)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.wakeLocked()
	return nil
}

// unused is the handler of requests that jsonrpc2 never gets to see.
type unused struct{}

func (unused) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

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
