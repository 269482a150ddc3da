package codextest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// A frontend is tested against a Codex that answers late: the reply to the first replacement of the goal arrives behind
// that to a read which was sent after it.
func ExamplePeer() {
	goal := map[string]any{"threadId": "T", "objective": "paint the fence", "status": "active"}
	peer := codextest.NewPeer(
		codextest.On("thread/goal/set").Hold("later").Answer(map[string]any{"goal": goal}),
		codextest.On("thread/goal/get").Answer(map[string]any{"goal": nil}),
	)
	client, err := codex.Start(context.Background(), codex.Options{Dial: peer.Dial})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	events := client.Subscribe(codex.SubscribeOptions{Replies: true})
	codex.Dispatch(client, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: "T", Objective: protocol.Some("paint the fence")})
	codex.Dispatch(client, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: "T"})
	for range 2 {
		e, err := events.Next(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Method, e.Reply.Delivery)
		peer.Release("later")
	}
	// Output:
	// thread/goal/get acknowledged
	// thread/goal/set acknowledged
}

// talk writes lines to a peer by hand and returns what it writes back up to its end, which end brings about.
func talk(t *testing.T, peer *codextest.Peer, end func(codex.Transport), lines ...string) string {
	t.Helper()
	wire, err := peer.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan string)
	go func() {
		var all bytes.Buffer
		_, _ = io.Copy(&all, reader{wire})
		out <- all.String()
	}()
	for _, l := range lines {
		if _, err := wire.Write([]byte(l + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	end(wire)
	text := <-out
	<-wire.Done()
	_ = wire.CloseRead()
	_ = wire.CloseWrite()
	return text
}

type reader struct{ codex.Transport }

func (r reader) Read(p []byte) (int, error) {
	n, err := r.Transport.Read(p)
	if errors.Is(err, io.ErrClosedPipe) {
		err = io.EOF
	}
	return n, err
}

// hangUp ends the peer when it has nothing more to do.
func hangUp(w codex.Transport) {
	synctest.Wait()
	_ = w.CloseWrite()
}

func untilGone(w codex.Transport) { <-w.Done() }

func TestPeerDoesWhatItsRulesSay(t *testing.T) {
	request := func(id int, method string) string {
		return fmt.Sprintf(`{"id":%d,"method":%q,"params":{}}`, id, method)
	}
	for name, row := range map[string]struct {
		rules []*codextest.Rule
		lines []string
		end   func(codex.Transport)
		want  []string
	}{
		"answer":          {[]*codextest.Rule{codextest.On("a").Answer(1)}, []string{request(1, "a")}, hangUp, []string{`{"id":1,"result":1}`}},
		"twice":           {[]*codextest.Rule{codextest.On("a").Answer(1).Answer(2)}, []string{request(1, "a")}, hangUp, []string{`{"id":1,"result":1}`, `{"id":1,"result":2}`}},
		"refuse":          {[]*codextest.Rule{codextest.On("a").Refuse(-1, "no")}, []string{request(1, "a")}, hangUp, []string{`{"error":{"code":-1,"message":"no"},"id":1}`}},
		"silence":         {[]*codextest.Rule{codextest.On("a").Silence()}, []string{request(1, "a")}, hangUp, nil},
		"no rule":         {nil, []string{request(1, "a")}, hangUp, []string{`{"error":{"code":-32600,"message":"the peer has no rule for a"},"id":1}`}},
		"nth":             {[]*codextest.Rule{codextest.On("a").Nth(2).Answer("second"), codextest.On("a").Answer("other")}, []string{request(1, "a"), request(2, "a"), request(3, "a")}, hangUp, []string{`{"id":1,"result":"other"}`, `{"id":2,"result":"second"}`, `{"id":3,"result":"other"}`}},
		"another id":      {[]*codextest.Rule{codextest.On("a").AnswerAs(`"x"`, 1)}, []string{request(1, "a")}, hangUp, []string{`{"id":"x","result":1}`}},
		"reorder":         {[]*codextest.Rule{codextest.On("a").Hold("b").Answer(1), codextest.On("b").Answer(2)}, []string{request(1, "a"), request(2, "b")}, hangUp, []string{`{"id":2,"result":2}`, `{"id":1,"result":1}`}},
		"notify":          {[]*codextest.Rule{codextest.On("a").Notify("n", nil).Answer(1)}, []string{request(1, "a")}, hangUp, []string{`{"method":"n","params":{}}`, `{"id":1,"result":1}`}},
		"flood":           {[]*codextest.Rule{codextest.On("a").Flood(2, "n", []string{"{{n}}"})}, []string{request(1, "a")}, hangUp, []string{`{"method":"n","params":["0"]}`, `{"method":"n","params":["1"]}`}},
		"ask":             {[]*codextest.Rule{codextest.On("a").AskFor("q", nil).AskFor("q", nil)}, []string{request(1, "a"), `{"id":0,"result":{}}`}, hangUp, []string{`{"method":"q","id":0,"params":{}}`, `{"method":"q","id":1,"params":{}}`}},
		"raw":             {[]*codextest.Rule{codextest.On("a").Raw("noise {{id}}\n")}, []string{request(7, "a")}, hangUp, []string{`noise 7`}},
		"cut":             {[]*codextest.Rule{codextest.On("a").CutAnswer("0123456789").HangUp()}, []string{request(1, "a")}, untilGone, []string{`{"id":1,"result`}},
		"die":             {[]*codextest.Rule{codextest.On("a").Answer(1).Die().Answer(2)}, []string{request(1, "a")}, untilGone, []string{`{"id":1,"result":1}`}},
		"hang up":         {[]*codextest.Rule{codextest.On("a").HangUp().Answer(2)}, []string{request(1, "a")}, untilGone, nil},
		"pause":           {[]*codextest.Rule{codextest.On("a").Pause(time.Microsecond).Stderr("x", 2).Reach("p").Answer(2)}, []string{request(1, "a")}, hangUp, []string{`{"id":1,"result":2}`}},
		"initialize":      {nil, []string{`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"me"}}}`}, hangUp, []string{`{"id":1,"result":{"userAgent":"me/0.160.1 (Fake 1.0.0; x86_64) dumb (me; 1)","codexHome":"/fake","platformFamily":"unix","platformOs":"linux"}}`}},
		"not JSON either": {[]*codextest.Rule{codextest.On("(not JSON)").Notify("n", nil)}, []string{"hello"}, hangUp, []string{`{"method":"n","params":{}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				peer := codextest.NewPeer(row.rules...)
				got := talk(t, peer, row.end, row.lines...)
				if want := strings.Join(row.want, "\n"); strings.TrimSuffix(got, "\n") != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
				if n := len(peer.Messages()); n < len(row.lines) {
					t.Errorf("%d messages noted", n)
				}
			})
		})
	}
}

func TestPeerThatStopsReadingCanBeLetGo(t *testing.T) {
	peer := codextest.NewPeer(codextest.On("a").StopReading("enough").Answer(1), codextest.On("b").Answer(2))
	got := talk(t, peer, func(w codex.Transport) {
		<-peer.Reached("enough")
		_ = w.SetWriteDeadline(time.Now())
		if n, err := w.Write([]byte("x")); n != 0 || err == nil {
			t.Errorf("wrote %d, %v", n, err)
		}
		_ = w.SetWriteDeadline(time.Time{})
		peer.Release("enough")
		if _, err := w.Write([]byte(`{"id":2,"method":"b"}` + "\n")); err != nil {
			t.Error(err)
		}
		_ = w.CloseWrite()
	}, `{"id":1,"method":"a"}`)
	if want := "{\"id\":1,\"result\":1}\n{\"id\":2,\"result\":2}\n"; got != want {
		t.Errorf("%s", got)
	}
}

func TestPeerKnowsWhatItReceived(t *testing.T) {
	peer := codextest.NewPeer(codextest.On("a").Silence())
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := peer.Wait(ctx, func(m []codextest.PeerMessage) bool { return len(m) == 2 }); err != nil {
			t.Error(err)
		}
		id := peer.Ask("q", nil)
		peer.AskAgain(id, "q", nil)
		peer.Notify("n", nil)
		peer.Die()
	}()
	got := talk(t, peer, untilGone, `{"id":1,"method":"a","params":{"x":1}}`, `{"method":"b"}`)
	if n := strings.Count(got, `"method":"q","id":0`); n != 2 || !strings.Contains(got, `"n"`) {
		t.Errorf("%s", got)
	}
	if m := peer.Received("a"); len(m) != 1 || string(m[0].Params) != `{"x":1}` || string(m[0].ID) != "1" {
		t.Errorf("%+v", m)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := peer.Wait(ended, func([]codextest.PeerMessage) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
