package codextest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// peerUserAgent is how 0.160.1 answers a client of that name.
func peerUserAgent(client string) string {
	return client + "/0.160.1 (Fake 1.0.0; x86_64) dumb (" + client + "; 1)"
}

// play is one performance of the rules over a pair of streams.
type play struct {
	rules  []*Rule
	in     *bufio.Reader
	stderr io.Writer
	die    func()
	gone   <-chan struct{}   // closed when the client has ended the peer; nil if it cannot
	record func(PeerMessage) // called for every line received, before it is acted upon

	writing sync.Mutex
	out     io.WriteCloser

	mu       sync.Mutex
	received []PeerMessage
	more     chan struct{} // closed and replaced when received grows
	times    map[string]int
	points   map[string]*peerPoint
	nextAsk  int
	held     sync.WaitGroup
	over     chan struct{}
}

type peerPoint struct {
	reached, released chan struct{}
	wasReached, open  bool
}

type peerStreams struct {
	in     io.Reader
	out    io.WriteCloser
	stderr io.Writer
}

func newPlay(rules []*Rule, s peerStreams) *play {
	return &play{
		rules: rules, in: bufio.NewReaderSize(s.in, 64<<10), out: s.out, stderr: s.stderr, record: func(PeerMessage) {},
		more: make(chan struct{}), times: make(map[string]int), points: make(map[string]*peerPoint), over: make(chan struct{}),
	}
}

// run plays until the client ends its side.
func (p *play) run() {
	defer p.held.Wait()
	defer close(p.over)
	for {
		line, err := p.in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m PeerMessage
		if json.Unmarshal(bytes.TrimSpace(line), &m) != nil {
			m = PeerMessage{Method: "(not JSON)", Params: raw(string(line))}
		}
		p.note(m)
		if m.Method == "" {
			continue
		}
		p.mu.Lock()
		p.times[m.Method]++
		n := p.times[m.Method]
		p.mu.Unlock()
		if !p.act(p.acts(m, n), m) {
			return
		}
		p.release(m.Method)
		p.forget(m.Method)
	}
}

func (p *play) note(m PeerMessage) {
	p.record(m)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, m)
	close(p.more)
	p.more = make(chan struct{})
}

func (p *play) acts(m PeerMessage, n int) []peerAct {
	for _, r := range p.rules {
		if r.Method == m.Method && (r.Number == 0 || r.Number == n) {
			return r.Acts
		}
	}
	switch {
	case m.ID == nil:
		return nil
	case m.Method == "initialize":
		return []peerAct{{Do: "welcome"}}
	}
	return []peerAct{{Do: "refuse", Code: -32600, Text: "the peer has no rule for " + m.Method}}
}

// act is false when the peer is to end.
func (p *play) act(acts []peerAct, m PeerMessage) bool {
	for i, a := range acts {
		switch a.Do {
		case "welcome":
			var params struct {
				ClientInfo struct{ Name string } `json:"clientInfo"`
			}
			_ = json.Unmarshal(m.Params, &params)
			p.line(`{"id":%s,"result":{"userAgent":%s,"codexHome":"/fake","platformFamily":"unix","platformOs":"linux"}}`,
				m.ID, raw(peerUserAgent(params.ClientInfo.Name)))
		case "answer":
			id := string(m.ID)
			if a.Text != "" {
				id = a.Text
			}
			p.line(`{"id":%s,"result":%s}`, id, a.Value)
		case "refuse":
			p.line(`{"error":{"code":%d,"message":%s},"id":%s}`, a.Code, raw(a.Text), m.ID)
		case "notify":
			p.notify(a.Method, a.Value)
		case "ask":
			p.ask(a.Method, a.Value)
		case "flood":
			p.flood(a)
		case "raw":
			p.write([]byte(strings.ReplaceAll(a.Text, "{{id}}", string(m.ID))))
		case "cut":
			whole := fmt.Sprintf(`{"id":%s,"result":%s}`, m.ID, a.Value)
			p.write([]byte(whole[:len(whole)/2]))
		case "reach":
			p.point(a.Text).reach(p)
		case "hold":
			point := p.point(a.Text)
			point.reach(p)
			rest := acts[i+1:]
			p.held.Go(func() {
				select {
				case <-point.released:
					p.act(rest, m)
				case <-p.over:
				}
			})
			return true
		case "stop":
			point := p.point(a.Text)
			point.reach(p)
			select {
			case <-point.released:
			case <-p.gone:
			}
		case "stderr":
			for range a.Count {
				_, _ = io.WriteString(p.stderr, a.Text)
			}
		case "pause":
			time.Sleep(a.Pause)
		case "hangup":
			return false
		case "die":
			p.die()
			return false
		}
	}
	return true
}

func (p *play) flood(a peerAct) {
	head := fmt.Appendf(nil, `{"method":%s,"params":`, raw(a.Method))
	parts := bytes.Split(a.Value, []byte("{{n}}"))
	var batch []byte
	for n := range a.Count {
		batch = append(batch, head...)
		batch = append(batch, bytes.Join(parts, strconv.AppendInt(nil, int64(n), 10))...)
		batch = append(batch, "}\n"...)
		if len(batch) > 32<<10 || n == a.Count-1 {
			p.write(batch)
			batch = batch[:0]
		}
	}
}

func (p *play) notify(method string, params json.RawMessage) {
	p.line(`{"method":%s,"params":%s}`, raw(method), params)
}

func (p *play) ask(method string, params json.RawMessage) int {
	p.mu.Lock()
	id := p.nextAsk
	p.nextAsk++
	p.mu.Unlock()
	p.askAs(id, method, params)
	return id
}

func (p *play) askAs(id int, method string, params json.RawMessage) {
	p.line(`{"method":%s,"id":%d,"params":%s}`, raw(method), id, params)
}

func (p *play) line(format string, args ...any) { p.write(fmt.Appendf(nil, format+"\n", args...)) }

// write ignores errors: a client that has gone is noticed where it is read from.
func (p *play) write(b []byte) {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, _ = p.out.Write(b)
}

func (p *play) point(name string) *peerPoint {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.points[name] == nil {
		p.points[name] = &peerPoint{reached: make(chan struct{}), released: make(chan struct{})}
	}
	return p.points[name]
}

func (pt *peerPoint) reach(p *play) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !pt.wasReached {
		pt.wasReached = true
		close(pt.reached)
	}
}

func (p *play) release(name string) {
	pt := p.point(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !pt.open {
		pt.open = true
		close(pt.released)
	}
}

// forget makes a method a point that can be waited for again.
func (p *play) forget(method string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.points, method)
}
