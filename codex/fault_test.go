package codex_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

const (
	reading  = "thread/goal/get"
	mutating = "thread/goal/set"
)

// outcome is what a row of the fault table expects for a method.
type outcome struct {
	delivery codex.Delivery
	frames   int   // with the method that went out whole
	err      error // that the outcome's error is, if any
}

// faultTable has a row for each fault and moment. In every row one request is made by Call and, on a connection of its own,
// one by Dispatch; both must end in the same way, the Dispatch with exactly one Reply.
var faultTable = []struct {
	fault string
	rules func(method string) []*codextest.Rule
	// wrap, if not nil, stands between the client and the peer.
	wrap func(codex.Transport) codex.Transport
	// before runs before the request is made, after once it has been.
	before, after      func(*codextest.Peer, *codex.Client)
	reads, mutates     outcome
	late, stray, noise uint64
	connectionEnds     bool
}{
	{
		fault: "none", rules: one(func(r *codextest.Rule) { r.Answer(answer) }),
		reads: outcome{codex.Acknowledged, 1, nil}, mutates: outcome{codex.Acknowledged, 1, nil},
	},
	{
		fault: "no reply", rules: one(func(r *codextest.Rule) { r.Silence() }),
		reads: outcome{codex.Unknown, 1, codex.ErrDeadline}, mutates: outcome{codex.Unknown, 1, codex.ErrDeadline},
	},
	{
		fault: "reply after the deadline", rules: one(func(r *codextest.Rule) { r.Hold("late").Answer(answer) }),
		after: func(p *codextest.Peer, c *codex.Client) { p.Release("late") },
		reads: outcome{codex.Unknown, 1, codex.ErrDeadline}, mutates: outcome{codex.Unknown, 1, codex.ErrDeadline}, late: 1,
	},
	{
		fault: "reply twice", rules: one(func(r *codextest.Rule) { r.Answer(answer).Answer(answer) }),
		reads: outcome{codex.Acknowledged, 1, nil}, mutates: outcome{codex.Acknowledged, 1, nil}, late: 1,
	},
	{
		fault: "result and then error", rules: one(func(r *codextest.Rule) { r.Answer(answer).Refuse(-32600, "no") }),
		reads: outcome{codex.Acknowledged, 1, nil}, mutates: outcome{codex.Acknowledged, 1, nil}, late: 1,
	},
	{
		fault: "refusal", rules: one(func(r *codextest.Rule) { r.Refuse(-32600, "thread not found: T") }),
		reads: outcome{codex.Rejected, 1, nil}, mutates: outcome{codex.Rejected, 1, nil},
	},
	{
		fault: "error that is no error object", rules: one(func(r *codextest.Rule) { r.Raw(`{"error":"boom","id":{{id}}}` + "\n") }),
		reads: outcome{codex.Rejected, 1, nil}, mutates: outcome{codex.Rejected, 1, nil},
	},
	{
		fault: "overloaded once",
		rules: func(m string) []*codextest.Rule {
			return []*codextest.Rule{codextest.On(m).Nth(1).Refuse(codex.CodeOverloaded, "overloaded"), codextest.On(m).Answer(answer)}
		},
		reads: outcome{codex.Acknowledged, 2, nil}, mutates: outcome{codex.Rejected, 1, nil},
	},
	{
		fault: "overloaded for good", rules: one(func(r *codextest.Rule) { r.Refuse(codex.CodeOverloaded, "overloaded") }),
		reads: outcome{codex.Rejected, 6, nil}, mutates: outcome{codex.Rejected, 1, nil},
	},
	{
		fault: "malformed reply", rules: one(func(r *codextest.Rule) { r.Raw(`{"id":{{id}},"result":` + "\n") }),
		reads: outcome{codex.Unknown, 1, codex.ErrDeadline}, mutates: outcome{codex.Unknown, 1, codex.ErrDeadline}, noise: 1,
	},
	{
		fault: "reply that is not of its type", rules: one(func(r *codextest.Rule) { r.Answer(map[string]any{"goal": 7}) }),
		reads: outcome{codex.Acknowledged, 1, nil}, mutates: outcome{codex.Acknowledged, 1, nil},
	},
	{
		fault: "reply in invalid UTF-8", rules: one(func(r *codextest.Rule) { r.Raw("{\"id\":{{id}},\"result\":{\"goal\":{\"objective\":\"\xff\"}}}\n") }),
		reads: outcome{codex.Acknowledged, 1, nil}, mutates: outcome{codex.Acknowledged, 1, nil},
	},
	{
		fault: "reply over the line limit", rules: one(func(r *codextest.Rule) { r.Answer(map[string]any{"goal": strings.Repeat("x", 1<<20)}) }),
		reads: outcome{codex.Acknowledged, 1, nil}, mutates: outcome{codex.Acknowledged, 1, nil},
	},
	{
		fault: "id that was never used", rules: one(func(r *codextest.Rule) { r.AnswerAs("4711", answer) }),
		reads: outcome{codex.Unknown, 1, codex.ErrDeadline}, mutates: outcome{codex.Unknown, 1, codex.ErrDeadline}, stray: 1,
	},
	{
		fault: "id of another type", rules: one(func(r *codextest.Rule) { r.AnswerAs(`"1"`, answer).AnswerAs("-1", answer) }),
		reads: outcome{codex.Unknown, 1, codex.ErrDeadline}, mutates: outcome{codex.Unknown, 1, codex.ErrDeadline}, stray: 2,
	},
	{
		fault: "id that was used before", rules: one(func(r *codextest.Rule) { r.AnswerAs("0", answer).Answer(answer) }),
		reads: outcome{codex.Acknowledged, 1, nil}, mutates: outcome{codex.Acknowledged, 1, nil}, late: 1,
	},
	{
		fault: "noise around the reply", rules: one(func(r *codextest.Rule) {
			r.Raw("\n\r\nwarning: x\n[1]\n\u2028\n").Answer(answer).Raw("{}\n")
		}),
		reads: outcome{codex.Acknowledged, 1, nil}, mutates: outcome{codex.Acknowledged, 1, nil}, noise: 4,
	},
	{
		fault: "peer stops reading", rules: one(func(r *codextest.Rule) { r.Silence() }),
		before: func(p *codextest.Peer, c *codex.Client) { stall(p, c) },
		after:  func(p *codextest.Peer, c *codex.Client) { p.Release("reading") },
		reads:  outcome{codex.NotSent, 0, os.ErrDeadlineExceeded}, mutates: outcome{codex.NotSent, 0, os.ErrDeadlineExceeded},
	},
	{
		fault: "write error before the first byte", rules: one(func(r *codextest.Rule) { r.Answer(answer) }),
		wrap:  func(t codex.Transport) codex.Transport { return &failing{Transport: t, after: 0} },
		reads: outcome{codex.NotSent, 0, errBroken}, mutates: outcome{codex.NotSent, 0, errBroken},
	},
	{
		fault: "write error after the first byte", rules: one(func(r *codextest.Rule) { r.Answer(answer) }),
		wrap:  func(t codex.Transport) codex.Transport { return &failing{Transport: t, after: 1} },
		reads: outcome{codex.Unknown, 0, errBroken}, mutates: outcome{codex.Unknown, 0, errBroken}, connectionEnds: true,
	},
	{
		fault: "write error before the last byte", rules: one(func(r *codextest.Rule) { r.Answer(answer) }),
		wrap:  func(t codex.Transport) codex.Transport { return &failing{Transport: t, after: -1} },
		reads: outcome{codex.Unknown, 0, errBroken}, mutates: outcome{codex.Unknown, 0, errBroken}, connectionEnds: true,
	},
	{
		fault: "death before the write", rules: one(func(r *codextest.Rule) { r.Answer(answer) }),
		before: func(p *codextest.Peer, c *codex.Client) { p.Die(); <-c.Done() },
		reads:  outcome{codex.NotSent, 0, nil}, mutates: outcome{codex.NotSent, 0, nil}, connectionEnds: true,
	},
	{
		fault: "death after the write", rules: one(func(r *codextest.Rule) { r.Die() }),
		reads: outcome{codex.Unknown, 1, nil}, mutates: outcome{codex.Unknown, 1, nil}, connectionEnds: true,
	},
	{
		fault: "death inside the reply", rules: one(func(r *codextest.Rule) { r.CutAnswer(answer).Die() }),
		reads: outcome{codex.Unknown, 1, nil}, mutates: outcome{codex.Unknown, 1, nil}, noise: 1, connectionEnds: true,
	},
	{
		fault: "death after the reply", rules: one(func(r *codextest.Rule) { r.Answer(answer).Die() }),
		reads: outcome{codex.Acknowledged, 1, nil}, mutates: outcome{codex.Acknowledged, 1, nil}, connectionEnds: true,
	},
	{
		fault: "peer hangs up instead of replying", rules: one(func(r *codextest.Rule) { r.HangUp() }),
		reads: outcome{codex.Unknown, 1, nil}, mutates: outcome{codex.Unknown, 1, nil}, connectionEnds: true,
	},
	{
		fault: "we close while it waits", rules: one(func(r *codextest.Rule) { r.Reach("asked") }),
		before: func(p *codextest.Peer, c *codex.Client) { go func() { <-p.Reached("asked"); _ = c.Close() }() },
		reads:  outcome{codex.Unknown, 1, codex.ErrClosed}, mutates: outcome{codex.Unknown, 1, codex.ErrClosed}, connectionEnds: true,
	},
	{
		fault: "we had closed before", rules: one(func(r *codextest.Rule) { r.Answer(answer) }),
		before: func(p *codextest.Peer, c *codex.Client) { _ = c.Close() },
		reads:  outcome{codex.NotSent, 0, codex.ErrClosed}, mutates: outcome{codex.NotSent, 0, codex.ErrClosed}, connectionEnds: true,
	},
}

var answer = map[string]any{"goal": goal("paint the fence")}

func one(build func(*codextest.Rule)) func(string) []*codextest.Rule {
	return func(method string) []*codextest.Rule {
		r := codextest.On(method)
		build(r)
		return []*codextest.Rule{r}
	}
}

// stall makes the peer read nothing more.
func stall(p *codextest.Peer, c *codex.Client) {
	codex.Dispatch(c, protocol.ThreadLoadedListMethod, protocol.ThreadLoadedListParams{}, codex.WithTimeout(time.Hour))
	<-p.Reached("reading")
}

var errBroken = errors.New("broken by the test")

// failing lets one write fail after so many bytes; negative counts from the end. The first two, initialize and
// initialized, pass.
type failing struct {
	codex.Transport
	after, writes int
}

func (f *failing) Write(b []byte) (int, error) {
	f.writes++
	if f.writes != 3 {
		return f.Transport.Write(b)
	}
	n := f.after
	if n < 0 {
		n += len(b)
	}
	if n > 0 {
		if n, err := f.Transport.Write(b[:n]); err != nil {
			return n, err
		}
	}
	return n, &net.OpError{Op: "write", Err: errBroken}
}

func TestEveryFaultHasItsOutcome(t *testing.T) {
	for _, row := range faultTable {
		for _, method := range []string{reading, mutating} {
			want := row.reads
			if method == mutating {
				want = row.mutates
			}
			for _, dispatched := range []bool{false, true} {
				name := row.fault + "/" + method + map[bool]string{false: "/call", true: "/dispatch"}[dispatched]
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						rules := append(row.rules(method), codextest.On("thread/loaded/list").StopReading("reading"))
						peer := codextest.NewPeer(rules...)
						c, err := codex.Start(t.Context(), codex.Options{MaxLine: 100_000, Dial: func(ctx context.Context) (codex.Transport, error) {
							tr, err := peer.Dial(ctx)
							if row.wrap != nil {
								tr = row.wrap(tr)
							}
							return tr, err
						}})
						if err != nil {
							t.Fatal(err)
						}
						defer c.Close()
						if row.before != nil {
							row.before(peer, c)
						}
						replies, got := request(t, c, method, dispatched)
						if row.after != nil {
							row.after(peer, c)
						}
						synctest.Wait()
						checkOutcome(t, got, want)
						if n := len(peer.Received(method)); n != want.frames {
							t.Errorf("%d frames went out, want %d", n, want.frames)
						}
						s := c.Stats()
						if s.LateReplies != row.late || s.UnknownReplies != row.stray || s.Noise != row.noise {
							t.Errorf("late %d, stray %d, noise %d; want %d, %d, %d", s.LateReplies, s.UnknownReplies, s.Noise, row.late, row.stray, row.noise)
						}
						if ended := c.Err() != nil; ended != row.connectionEnds {
							t.Errorf("connection: %v", c.Err())
						}
						if _ = c.Close(); replies != nil {
							if more, _ := rest(t, replies); len(more) != 0 {
								t.Errorf("a second event: %+v", more[0])
							}
						}
					})
				})
			}
		}
	}
}

// request makes one request and returns the error of its outcome, and for a Dispatch where its replies go.
func request(t *testing.T, c *codex.Client, method string, dispatched bool) (*codex.Subscription, error) {
	t.Helper()
	get, set := protocol.ThreadGoalGetParams{ThreadID: "T"}, protocol.ThreadGoalSetParams{ThreadID: "T", Objective: protocol.Some("paint the fence")}
	if !dispatched {
		var err error
		if method == reading {
			_, err = codex.Call(t.Context(), c, protocol.ThreadGoalGetMethod, get)
		} else {
			_, err = codex.Call(t.Context(), c, protocol.ThreadGoalSetMethod, set)
		}
		return nil, err
	}
	ended := c.Err()
	s := c.Subscribe(codex.SubscribeOptions{Methods: func(string) bool { return false }})
	var id codex.CallID
	if method == reading {
		id = codex.Dispatch(c, protocol.ThreadGoalGetMethod, get, codex.ReplyTo(s))
	} else {
		id = codex.Dispatch(c, protocol.ThreadGoalSetMethod, set, codex.ReplyTo(s))
	}
	if ended != nil { // the subscription came too late to get a reply
		return nil, &codex.DeliveryError{Method: method, Delivery: codex.NotSent, Err: ended}
	}
	e := next(t, s)
	if e.Reply == nil || e.Reply.Call != id || e.Method != method || e.Reply.Method != method || e.Seq == 0 {
		t.Fatalf("unexpected event %+v", e)
	}
	if (e.Reply.Err == nil) == (e.Reply.Result == nil) || e.Reply.Err == nil != (e.Reply.Delivery == codex.Acknowledged) && codex.DeliveryOf(e.Reply.Err) != codex.Acknowledged {
		t.Errorf("outcome does not agree with itself: %v, %v, %v", e.Reply.Delivery, e.Reply.Err, e.Reply.Result)
	}
	if codex.DeliveryOf(e.Reply.Err) != e.Reply.Delivery {
		t.Errorf("reply says %v, its error %v", e.Reply.Delivery, e.Reply.Err)
	}
	return s, e.Reply.Err
}

func checkOutcome(t *testing.T, got error, want outcome) {
	t.Helper()
	if d := codex.DeliveryOf(got); d != want.delivery {
		t.Fatalf("outcome %v (%v), want %v", d, got, want.delivery)
	}
	if want.err != nil && !errors.Is(got, want.err) {
		t.Errorf("error %v, want %v in it", got, want.err)
	}
	var refused *codex.RPCError
	if want.delivery == codex.Rejected && !errors.As(got, &refused) {
		t.Errorf("error %T", got)
	}
}
