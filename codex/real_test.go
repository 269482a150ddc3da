package codex_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// real starts the real Codex on a scripted model.
func real(t *testing.T, o codex.Options, script codextest.Script, settings map[string]string) (*codex.Client, *codextest.Home, *codextest.Model) {
	t.Helper()
	codextest.Binary(t)
	model := codextest.StartModel(t, script)
	home := codextest.TempHome(t, model, codextest.HomeOptions{Settings: settings})
	o.Env, o.Dir = home.Env(), home.Work
	c, err := codex.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, home, model
}

func silentModel(codextest.Request) codextest.Reply { return nil }

func newThread(t *testing.T, c *codex.Client, home *codextest.Home) string {
	t.Helper()
	r, err := codex.Call(t.Context(), c, protocol.ThreadStartMethod, protocol.ThreadStartParams{Cwd: protocol.Some(home.Work)})
	if err != nil {
		t.Fatal(err)
	}
	return r.Thread.ID
}

func TestRealServerRefusals(t *testing.T) {
	c, home, _ := real(t, codex.Options{}, silentModel, nil)
	thread := newThread(t, c, home)
	future := protocol.ClientMethod[protocol.ThreadGoalGetParams, protocol.ThreadGoalGetResponse]{
		Method: &protocol.Method{Name: "no/such", Direction: protocol.DirClientRequest},
	}
	for name, row := range map[string]struct {
		call func() error
		says string
	}{
		"unknown method": {func() error {
			_, err := codex.Call(t.Context(), c, future, protocol.ThreadGoalGetParams{})
			return err
		}, "unknown variant `no/such`"},
		"second initialize": {func() error {
			_, err := codex.Call(t.Context(), c, protocol.InitializeMethod, protocol.InitializeParams{ClientInfo: protocol.ClientInfo{Name: "x", Version: "1"}})
			return err
		}, "Already initialized"},
		"resume of an unknown thread": {func() error {
			_, err := codex.Call(t.Context(), c, protocol.ThreadResumeMethod, protocol.ThreadResumeParams{ThreadID: "01a22cb2-ba94-76c1-a50a-a52e76797f26"})
			return err
		}, "no rollout found for thread id"},
		"goal of a thread that does not exist": {func() error {
			_, err := codex.Call(t.Context(), c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: "01a22cb2-ba94-76c1-a50a-a52e76797f26"})
			return err
		}, "thread not found"},
		"interrupt with nothing running": {func() error {
			_, err := codex.Call(t.Context(), c, protocol.TurnInterruptMethod, protocol.TurnInterruptParams{ThreadID: thread, TurnID: "x"})
			return err
		}, "no active turn to interrupt"},
		"a line of 40 MiB": {func() error {
			_, err := codex.Call(t.Context(), c, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: thread, Objective: protocol.Some(strings.Repeat("x", 40<<20))})
			return err
		}, "goal objective must be at most 4000 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			err := row.call()
			var refused *codex.RPCError
			if !errors.As(err, &refused) || refused.Code != -32600 || !strings.Contains(refused.Message, row.says) {
				t.Errorf("%.300v", err)
			}
		})
	}
}

func TestRealServerAnswers128CallsInFlight(t *testing.T) {
	const slots, calls = 128, 1000
	c, home, _ := real(t, codex.Options{MaxInFlight: slots}, silentModel, nil)
	thread := newThread(t, c, home)
	s := c.Subscribe(codex.SubscribeOptions{Replies: true})
	most := 0
	for range calls {
		codex.Dispatch(c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: thread})
		most = max(most, c.Stats().InFlight)
	}
	for n := 0; n < calls; {
		e := next(t, s)
		if e.Reply == nil {
			continue
		}
		if n++; e.Reply.Err != nil {
			t.Fatalf("reply %d: %v", n, e.Reply.Err)
		}
	}
	if most != slots {
		t.Errorf("at most %d were in flight", most)
	}
}

func TestRealServerRepliesInPlace(t *testing.T) {
	c, home, _ := real(t, codex.Options{}, silentModel, nil)
	thread := newThread(t, c, home)
	s := c.Subscribe(codex.SubscribeOptions{Thread: thread, Replies: true})
	const times = 50
	for n := range times {
		codex.Dispatch(c, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{
			ThreadID: thread, Objective: protocol.Some(fmt.Sprint("objective ", n)), Status: protocol.Some(protocol.ThreadGoalStatusPaused),
		})
	}
	// 0.160.1 announces a paused goal's new objective behind the reply.
	replies, updates := 0, 0
	for updates < times {
		e := next(t, s)
		switch n := e.Notification.(type) {
		case nil:
			if got := e.Reply.Result.(*protocol.ThreadGoalSetResponse).Goal.Objective; got != fmt.Sprint("objective ", replies) {
				t.Fatalf("reply %d says %s", replies, got)
			}
			replies++
		case *protocol.ThreadGoalUpdatedNotification:
			if got := n.Goal.Objective; got != fmt.Sprint("objective ", updates) || replies <= updates {
				t.Fatalf("update %d says %s after %d replies", updates, got, replies)
			}
			updates++
		}
	}
}

func TestRealServerAsksAgainOnResumeAndIsAnsweredOnce(t *testing.T) {
	decide := make(chan struct{})
	asked := make(chan *protocol.CommandExecutionRequestApprovalParams, 10)
	o := codex.Options{Handlers: codex.ServerHandlers{
		ApproveCommand: func(ctx context.Context, p *protocol.CommandExecutionRequestApprovalParams) (protocol.CommandExecutionRequestApprovalResponse, error) {
			asked <- p
			select {
			case <-decide:
			case <-ctx.Done():
				asked <- nil
			}
			return protocol.CommandExecutionRequestApprovalResponse{
				Decision: protocol.CommandExecutionApprovalDecision{Arm: protocol.CommandExecutionApprovalDecisionAccept}}, nil
		},
	}}
	script := codextest.InOrder(
		codextest.Reply{codextest.ExecEscalated("echo approved-$((40+2))", "the test asks")},
		codextest.Reply{codextest.Text("done")},
		codextest.Reply{codextest.ExecEscalated("echo never", "the test asks")})
	c, home, model := real(t, o, script, map[string]string{"approval_policy": `"on-request"`})
	thread := newThread(t, c, home)
	s := c.Subscribe(codex.SubscribeOptions{Thread: thread})
	turn := func() string {
		r, err := codex.Call(t.Context(), c, protocol.TurnStartMethod, protocol.TurnStartParams{
			ThreadID: thread, Input: []protocol.UserInput{{Arm: &protocol.UserInputText{Text: "go"}}}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Turn.ID
	}
	await := func(method string) {
		for e := next(t, s); e.Method != method; e = next(t, s) {
		}
	}

	turn()
	if p := <-asked; p.ThreadID != thread || p.Reason == nil || *p.Reason != "the test asks" {
		t.Errorf("asked with %+v", p)
	}
	if _, err := codex.Call(t.Context(), c, protocol.ThreadResumeMethod, protocol.ThreadResumeParams{ThreadID: thread}); err != nil {
		t.Fatal(err)
	}
	until(t, "the request comes again", func() bool { return c.Stats().RepeatedAsks == 1 })
	close(decide)
	await(protocol.NotifyTurnCompleted)
	requests := model.Requests()
	if text := fmt.Sprintf("%+v", requests[len(requests)-1]); !strings.Contains(text, "approved-42") {
		t.Errorf("the model did not see the command's output")
	}
	if len(asked) != 0 {
		t.Errorf("asked again")
	}

	decide = make(chan struct{})
	id := turn()
	<-asked
	if _, err := codex.Call(t.Context(), c, protocol.TurnInterruptMethod, protocol.TurnInterruptParams{ThreadID: thread, TurnID: id}); err != nil {
		t.Fatal(err)
	}
	if p := <-asked; p != nil {
		t.Error("the handler was not cancelled")
	}
	await(protocol.NotifyTurnCompleted)
}

func TestRealServerIsToldWhenNobodyApproves(t *testing.T) {
	script := codextest.InOrder(
		codextest.Reply{codextest.ExecEscalated("echo never", "the test asks")},
		codextest.Reply{codextest.Text("done")})
	c, home, model := real(t, codex.Options{}, script, map[string]string{"approval_policy": `"on-request"`})
	thread := newThread(t, c, home)
	s := c.Subscribe(codex.SubscribeOptions{Thread: thread})
	if _, err := codex.Call(t.Context(), c, protocol.TurnStartMethod, protocol.TurnStartParams{
		ThreadID: thread, Input: []protocol.UserInput{{Arm: &protocol.UserInputText{Text: "go"}}}}); err != nil {
		t.Fatal(err)
	}
	var sawRequest, sawDeclined bool
	for e := next(t, s); e.Method != protocol.NotifyTurnCompleted; e = next(t, s) {
		sawRequest = sawRequest || e.Request != nil
		if n, ok := e.Notification.(*protocol.ItemCompletedNotification); ok {
			if item, ok := n.Item.Arm.(*protocol.ThreadItemCommandExecution); ok {
				sawDeclined = item.Status == protocol.CommandExecutionStatusDeclined
			}
		}
	}
	if !sawRequest || !sawDeclined {
		t.Errorf("request %v, declined %v", sawRequest, sawDeclined)
	}
	requests := model.Requests()
	if text := fmt.Sprintf("%+v", requests[len(requests)-1]); !strings.Contains(text, "rejected by user") {
		t.Errorf("the model was not told")
	}
}

// lines talks to the real server by hand.
type lines struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func byHand(t *testing.T) *lines {
	t.Helper()
	model := codextest.StartModel(t, silentModel)
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	cmd := exec.Command(codextest.Binary(t), "app-server")
	cmd.Dir, cmd.Env = home.Work, home.Env()
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	l := &lines{in, bufio.NewReader(out), cmd}
	stop := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, l.out)
		_ = cmd.Wait()
		stop.Stop()
	})
	return l
}

func (l *lines) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(l.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// reply returns the next response, and its id as JSON.
func (l *lines) reply(t *testing.T) (id, line string) {
	t.Helper()
	for {
		text, err := l.out.ReadString('\n')
		if err != nil {
			t.Fatalf("the server has ended: %v", err)
		}
		var m struct{ ID json.RawMessage }
		if json.Unmarshal([]byte(text), &m) == nil && m.ID != nil {
			return string(m.ID), text
		}
	}
}

// What the client refuses to write is what 0.160.1 leaves without an answer, and nothing that it would answer.
func TestRealServerIsSilentAboutWhatWeRefuseToWrite(t *testing.T) {
	l := byHand(t)
	l.say(t, `{"id":"before","method":"thread/loaded/list","params":{}}`)
	if id, line := l.reply(t); id != `"before"` || !strings.Contains(line, "Not initialized") {
		t.Errorf("before initialize: %s", line)
	}
	l.say(t, `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"by hand","version":"1"}}}`)
	if id, line := l.reply(t); id != "1" || !strings.Contains(line, `"by hand/0.160.1 (`) {
		t.Errorf("initialize: %s", line)
	}
	probe := func(id int, value string) string {
		return fmt.Sprintf(`{"id":%d,"method":"thread/loaded/list","params":{"x":%s}}`, id, value)
	}
	nested := func(levels int) string { return strings.Repeat("[", levels-2) + strings.Repeat("]", levels-2) }
	// Each silent line is followed by one that is answered.
	for n, row := range []struct{ name, silent, answered string }{
		{"depth", nested(128), nested(127)},
		{"surrogate", `"\ud800"`, `"\ud83d\ude00"`},
		{"control character", "\"\x01\"", `"\u0001"`},
		{"number", `01`, `1e999`},
		{"separator", "\"\n\"", "\"\u2028\""},
	} {
		l.say(t, probe(100+n, row.silent))
		l.say(t, probe(200+n, row.answered))
		if id, line := l.reply(t); id != fmt.Sprint(200+n) || !strings.Contains(line, "result") {
			t.Errorf("%s: answer %s", row.name, line)
		}
	}
	l.say(t, probe(300, "\"\xff\""))
	if line, err := l.out.ReadString('\n'); err != io.EOF && !strings.Contains(line, `"method"`) {
		t.Errorf("after invalid UTF-8: %q, %v", line, err)
	}
	_, _ = io.Copy(io.Discard, l.out) // ends
}

func TestRealServerIsGoneAfterCloseAndKill(t *testing.T) {
	for _, end := range []func(*codex.Client) error{(*codex.Client).Close, (*codex.Client).Kill} {
		gate := codextest.NewGate()
		script := codextest.InOrder(codextest.Reply{codextest.Exec("sleep 600")}, codextest.Reply{gate})
		c, home, _ := real(t, codex.Options{}, script, map[string]string{"sandbox_mode": `"danger-full-access"`})
		thread := newThread(t, c, home)
		s := c.Subscribe(codex.SubscribeOptions{Thread: thread})
		if _, err := codex.Call(t.Context(), c, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: thread, Objective: protocol.Some("run for long")}); err != nil {
			t.Fatal(err)
		}
		for running := false; !running; {
			n, ok := next(t, s).Notification.(*protocol.ItemStartedNotification)
			if ok {
				_, running = n.Item.Arm.(*protocol.ThreadItemCommandExecution)
			}
		}
		id := c.Server().Process
		if err := end(c); err != nil {
			t.Error(err)
		}
		<-c.Done()
		if id.Alive() || !errors.Is(c.Err(), codex.ErrClosed) {
			t.Errorf("alive %v, %v", id.Alive(), c.Err())
		}
		gate.Open()
	}
}
