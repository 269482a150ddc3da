package codextest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/codexctl/codexctl/codex"
)

// Peer is a fake app-server in the process of the test. It does on command what the real one does rarely: lose, delay,
// repeat, reorder, cut, flood, stop reading, die. It answers initialize by itself; every other request needs a rule made with
// [On], or is refused with an error that says so.
//
//	peer := codextest.NewPeer(
//		codextest.On("thread/goal/set").Nth(1).Silence(),
//		codextest.On("thread/goal/set").Answer(goal),
//	)
//	client, err := codex.Start(ctx, codex.Options{Dial: peer.Dial})
//
// [PeerProcess] plays the same rules in a process of its own, with real pipes, to be killed with a real signal. A Peer serves
// one connection. Its methods may be called from any goroutine.
type Peer struct {
	play *play
	wire *memoryWire
	once sync.Once
}

// PeerMessage is one line that a peer has received.
type PeerMessage struct {
	ID     json.RawMessage `json:"id,omitempty"`     // absent from a notification
	Method string          `json:"method,omitempty"` // absent from an answer
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"` // of the client's answer to a request of the peer's
	Error  json.RawMessage `json:"error,omitempty"`  // likewise
}

// NewPeer makes a peer that plays the rules.
func NewPeer(rules ...*Rule) *Peer {
	w := newMemoryWire()
	p := &Peer{wire: w}
	p.play = newPlay(rules, w.serverSide())
	p.play.die = func() { _ = w.Kill() }
	p.play.gone = w.done
	return p
}

// Dial is for [codex.Options]. The peer plays until the client ends the connection.
func (p *Peer) Dial(context.Context) (codex.Transport, error) {
	p.once.Do(func() {
		go func() {
			p.play.run()
			p.wire.end()
		}()
	})
	return p.wire, nil
}

// Release lets the rules go on that wait at the point; see [Rule.Hold]. Rules that come to it later do not wait either.
func (p *Peer) Release(point string) { p.play.release(point) }

// Reached is closed when a rule has come to the point with [Rule.Hold], [Rule.StopReading] or [Rule.Reach].
func (p *Peer) Reached(point string) <-chan struct{} { return p.play.point(point).reached }

// Notify sends a notification now.
func (p *Peer) Notify(method string, params any) { p.play.notify(method, raw(params)) }

// Ask sends a request of the server's now and returns its id. The answer is among [Peer.Messages].
func (p *Peer) Ask(method string, params any) int { return p.play.ask(method, raw(params)) }

// AskAgain sends a request with an id that was used before, as Codex does when a thread is resumed.
func (p *Peer) AskAgain(id int, method string, params any) { p.play.askAs(id, method, raw(params)) }

// Messages returns what the peer has received so far, in order.
func (p *Peer) Messages() []PeerMessage {
	p.play.mu.Lock()
	defer p.play.mu.Unlock()
	return slices.Clone(p.play.received)
}

// Received returns the requests and notifications of a method that the peer has received so far.
func (p *Peer) Received(method string) []PeerMessage {
	return slices.DeleteFunc(p.Messages(), func(m PeerMessage) bool { return m.Method != method })
}

// Wait returns what the peer has received as soon as done approves of it, or the error of ctx.
func (p *Peer) Wait(ctx context.Context, done func([]PeerMessage) bool) ([]PeerMessage, error) {
	for {
		p.play.mu.Lock()
		got, more := slices.Clone(p.play.received), p.play.more
		p.play.mu.Unlock()
		if done(got) {
			return got, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return got, context.Cause(ctx)
		}
	}
}

// Die ends the peer at once, as kill -9 would.
func (p *Peer) Die() { _ = p.wire.Kill() }

// raw encodes params or a result. What cannot be encoded is a mistake in the test.
func raw(v any) json.RawMessage {
	if v == nil {
		return json.RawMessage("{}")
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic("codextest: " + err.Error())
	}
	return b
}
