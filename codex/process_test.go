package codex_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/version"
)

// process starts a client of a peer that has a process of its own.
func process(t *testing.T, o codex.Options, rules ...*codextest.Rule) (*codex.Client, *codextest.PeerProcess) {
	t.Helper()
	peer, err := codextest.NewPeerProcess(t.TempDir(), rules...)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := peer.Options()
	if err != nil {
		t.Fatal(err)
	}
	o.Path, o.Env = theirs.Path, theirs.Env
	c, err := codex.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, peer
}

func frames(t *testing.T, peer *codextest.PeerProcess, method string) (n int) {
	t.Helper()
	all, err := peer.Messages()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Method == method {
			n++
		}
	}
	return n
}

func TestKillOfTheServerLeavesADefiniteOutcome(t *testing.T) {
	for moment, row := range map[string]struct {
		rule   *codextest.Rule
		before bool // killed from outside, and known to be gone, before the request
		want   codex.Delivery
		frames int
	}{
		"before the write":       {codextest.On(mutating).Answer(answer), true, codex.NotSent, 0},
		"after the write":        {codextest.On(mutating).Die(), false, codex.Unknown, 1},
		"in the middle of it":    {codextest.On(mutating).CutAnswer(answer).Die(), false, codex.Unknown, 1},
		"after the reply":        {codextest.On(mutating).Answer(answer).Die(), false, codex.Acknowledged, 1},
		"instead of the reading": {codextest.On(mutating).Die(), false, codex.Unknown, 1},
	} {
		t.Run(moment, func(t *testing.T) {
			c, peer := process(t, codex.Options{}, row.rule)
			if row.before {
				if err := c.Kill(); err != nil {
					t.Fatal(err)
				}
				<-c.Done()
			}
			_, err := codex.Call(t.Context(), c, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: "T"})
			if d := codex.DeliveryOf(err); d != row.want {
				t.Errorf("%v (%v), want %v", d, err, row.want)
			}
			<-c.Done()
			if n := frames(t, peer, mutating); n != row.frames {
				t.Errorf("%d frames, want %d", n, row.frames)
			}
			var exit *codex.ExitError
			if !row.before && (!errors.As(c.Err(), &exit) || !strings.Contains(exit.Error(), "killed")) {
				t.Errorf("client ended with %v", c.Err())
			}
		})
	}
}

func TestServerThatStopsReadingGetsNoHalfLine(t *testing.T) {
	c, peer := process(t, codex.Options{}, codextest.On(trigger).StopReading("for ever"))
	s := c.Subscribe(codex.SubscribeOptions{Replies: true})
	codex.Dispatch(c, protocol.ThreadLoadedListMethod, protocol.ThreadLoadedListParams{})
	big := protocol.Some(strings.Repeat("x", 48<<10))
	var ids []codex.CallID
	for range 4 { // the first two fit into pipe and buffer or not: each ends, none is both written and called unsent
		ids = append(ids, codex.Dispatch(c, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: "T", Objective: big}, codex.WithTimeout(time.Second)))
	}
	got := make(map[codex.CallID]codex.Delivery)
	events, _ := rest(t, s) // a torn write ends the connection
	for _, e := range events {
		if e.Reply != nil {
			got[e.Reply.Call] = e.Reply.Delivery
		}
	}
	torn := 0
	for n, id := range ids {
		if d := got[id]; d != codex.Unknown && d != codex.NotSent {
			t.Errorf("request %d: %v", n, d)
		} else if n > 0 && d == codex.Unknown && got[ids[n-1]] == codex.NotSent {
			t.Errorf("request %d went out before the one in front of it", n)
		} else if d == codex.Unknown {
			torn++
		}
	}
	if torn == 0 || frames(t, peer, mutating) != 0 {
		t.Errorf("outcomes %v", got)
	}
}

func TestRequestsKeepTheirOrderWhenThePipeIsFull(t *testing.T) {
	const times = 3000
	c, peer := process(t, codex.Options{MaxInFlight: 2 * times}, codextest.On(mutating).Answer(answer))
	s := c.Subscribe(codex.SubscribeOptions{Replies: true})
	pid := c.Server().Process.PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for n := range times {
		setGoal(c, fmt.Sprint(n))
	}
	if s := c.Stats(); s.InFlight == times || s.InFlight == 0 {
		t.Errorf("%d of %d requests fit into the pipe", s.InFlight, times)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for range times {
		if e := next(t, s); e.Reply.Err != nil {
			t.Fatal(e.Reply.Err)
		}
	}
	all, err := peer.Messages()
	if err != nil {
		t.Fatal(err)
	}
	for n, m := range all[2:] {
		if want := fmt.Sprintf(`{"objective":"%d","threadId":"T"}`, n); string(m.Params) != want {
			t.Fatalf("request %d carries %s", n, m.Params)
		}
	}
}

func TestStderrIsDrainedAndItsTailKept(t *testing.T) {
	line := strings.Repeat("e", 1023) + "\n"
	c, _ := process(t, codex.Options{},
		codextest.On("thread/goal/get").Stderr(line, 200).Answer(map[string]any{}), // 200 KiB each time
		codextest.On("thread/goal/clear").Stderr("\x1b[31mERROR\x1b[0m out of luck\n", 1).Die())
	for range 20 {
		if _, err := codex.Call(t.Context(), c, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: "T"}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := codex.Call(t.Context(), c, protocol.ThreadGoalClearMethod, protocol.ThreadGoalClearParams{ThreadID: "T"})
	if err == nil || !strings.HasSuffix(err.Error(), "ERROR out of luck") {
		t.Errorf("error ends with %.80q", err)
	}
	if n := c.Stats().StderrBytes; n < 20*200<<10 {
		t.Errorf("%d bytes of stderr", n)
	}
}

func TestServerThatDiesAtTheStartSaysWhy(t *testing.T) {
	peer, err := codextest.NewPeerProcess(t.TempDir(), codextest.On("initialize").Stderr("approval_policy = \"untrusted\" is no longer supported\n", 1).Die())
	if err != nil {
		t.Fatal(err)
	}
	o, err := peer.Options()
	if err != nil {
		t.Fatal(err)
	}
	_, err = codex.Start(t.Context(), o)
	var exit *codex.ExitError
	if !errors.As(err, &exit) || !strings.Contains(err.Error(), "no longer supported") {
		t.Errorf("%v", err)
	}
}

func TestCloseGetsFirmerStepByStep(t *testing.T) {
	for name, rules := range map[string][]*codextest.Rule{
		"ends by itself":       nil,
		"does not read":        {codextest.On(trigger).StopReading("for ever")},
		"floods and reads not": {codextest.On(trigger).Flood(1_000_000, "some/day", nil)},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := process(t, codex.Options{CloseTimeout: 50 * time.Millisecond}, rules...)
			id := c.Server().Process
			if !id.Alive() || id.Start == "" {
				t.Fatalf("%v is not alive", id)
			}
			codex.Dispatch(c, protocol.ThreadLoadedListMethod, protocol.ThreadLoadedListParams{})
			until(t, "the request is written", func() bool { return c.Stats().Sent == 3 })
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if id.Alive() {
				t.Errorf("%v is alive after Close", id)
			}
			if !errors.Is(c.Err(), codex.ErrClosed) {
				t.Errorf("%v", c.Err())
			}
			if err := c.Close(); err != nil {
				t.Errorf("closed again: %v", err)
			}
		})
	}
}

func TestReplacedExecutableIsTold(t *testing.T) {
	peer, err := codextest.NewPeerProcess(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o, err := peer.Options()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, link := filepath.Join(dir, "codex-1"), filepath.Join(dir, "codex")
	body, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(file, body, 0o700), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	o.Path = link
	c, err := codex.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	real, err := filepath.EvalSymlinks(file)
	if err != nil || c.Server().Executable != real || c.ExecutableReplaced() {
		t.Errorf("%q started, replaced %v, %v", c.Server().Executable, c.ExecutableReplaced(), err)
	}
	if err := os.Remove(link); err != nil || c.ExecutableReplaced() { // Codex runs the file behind it again
		t.Errorf("no link: %v, %v", c.ExecutableReplaced(), err)
	}
	newer := filepath.Join(dir, "newer")
	if err := errors.Join(os.WriteFile(newer, body, 0o700), os.Rename(newer, file)); err != nil || !c.ExecutableReplaced() {
		t.Errorf("another file: %v, %v", c.ExecutableReplaced(), err)
	}
	if err := os.Remove(file); err != nil || !c.ExecutableReplaced() {
		t.Errorf("no file: %v, %v", c.ExecutableReplaced(), err)
	}
	if start(t, codextest.NewPeer(), codex.Options{}).ExecutableReplaced() {
		t.Error("a peer without an executable was replaced")
	}
}

func TestEndOfTheContextEndsTheStart(t *testing.T) {
	peer, err := codextest.NewPeerProcess(t.TempDir(), codextest.On("initialize").Silence())
	if err != nil {
		t.Fatal(err)
	}
	o, err := peer.Options()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		until(t, "the peer is asked", func() bool { return frames(t, peer, "initialize") == 1 })
		cancel()
	}()
	if _, err := codex.Start(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestProcessThatAnswersAsAnotherVersionIsRefused(t *testing.T) {
	for agent, ok := range map[string]bool{
		"my client/x/0.160.1 (Debian 12.0.0; x86_64) xterm (my client/x; 1)": true,
		"my client/x/0.160.0 (Debian 12.0.0; x86_64) xterm (my client/x; 1)": false,
		"other/0.160.1 (Debian 12.0.0; x86_64)":                              true, // an originator set from outside
		"other/0.161.0 (Debian 12.0.0; x86_64)":                              false,
	} {
		peer := codextest.NewPeer(codextest.On("initialize").Answer(map[string]any{"userAgent": agent, "codexHome": "/"}))
		c, err := codex.Start(t.Context(), codex.Options{Dial: peer.Dial, Client: codex.ClientInfo{Name: "my client/x", Version: "1"}})
		if (err == nil) != ok {
			t.Errorf("%s: %v", agent, err)
		}
		if err == nil {
			if s := c.Server(); s.Version != "0.160.1" || s.UserAgent != agent {
				t.Errorf("%+v", s)
			}
			_ = c.Close()
		}
		if unsupported := (*version.UnsupportedError)(nil); strings.Contains(agent, "0.160.0") && !errors.As(err, &unsupported) {
			t.Errorf("%s: %T", agent, err)
		}
	}
}

func TestProcessIdentityOutlivesThePid(t *testing.T) {
	self, err := codex.IdentifyProcess(os.Getpid())
	if err != nil || !self.Alive() {
		t.Fatalf("%v, %v", self, err)
	}
	if again, err := codex.IdentifyProcess(os.Getpid()); err != nil || again != self {
		t.Errorf("%v and %v", self, again)
	}
	for name, id := range map[string]codex.ProcessID{
		"another start": {PID: self.PID, Start: self.Start + "0"}, "no pid": {}, "unused pid": {PID: 1<<22 + 1, Start: "x"},
	} {
		if id.Alive() {
			t.Errorf("%s is alive", name)
		}
	}
	if _, err := codex.IdentifyProcess(1<<22 + 1); err == nil {
		t.Error("a process that is not there was identified")
	}
	if s := self.String(); s != fmt.Sprint(self.PID)+"@"+self.Start {
		t.Errorf("%s", s)
	}
}
