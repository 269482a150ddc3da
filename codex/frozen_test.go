package codex_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// frozenVariable makes the test binary the client that TestAnswersInThePipe suspends. Its value is how long a call may take.
const frozenVariable = "CODEX_TEST_FROZEN"

// frozenMain makes one call and prints its delivery.
func frozenMain() {
	timeout, err := time.ParseDuration(os.Getenv(frozenVariable))
	if err != nil {
		return
	}
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	if len(os.Args) > 1 && (os.Args[1] == "app-server" || os.Args[1] == "--version") {
		return // the peer that this client starts
	}
	c, err := codex.Start(context.Background(), codex.Options{Path: path})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, err = codex.Call(context.Background(), c, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{ThreadID: "T"}, codex.WithTimeout(timeout))
	fmt.Println(codex.DeliveryOf(err))
	_ = c.Close()
	os.Exit(0)
}

// A client that was suspended over a deadline reads what is in its pipe before it judges.
func TestAnswersInThePipeComeBeforeTheDeadline(t *testing.T) {
	const times, timeout = 8, 2 * time.Second
	var wg sync.WaitGroup
	for range times {
		peer, err := codextest.NewPeerProcess(t.TempDir(),
			codextest.On(mutating).Flood(300, "some/day", map[string]any{"n": "{{n}}"}).Pause(time.Second).Answer(answer).HangUp())
		if err != nil {
			t.Fatal(err)
		}
		o, err := peer.Options()
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			cmd := exec.Command(o.Path)
			cmd.Env = append(o.Env, frozenVariable+"="+timeout.String())
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Error(err)
				return
			}
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			until(t, "the request has come", func() bool { return frames(t, peer, mutating) == 1 })
			asked := time.Now()
			if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Error(err)
			}
			until(t, "the deadline has passed and the answer is written", func() bool { return time.Since(asked) > 2*timeout })
			if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Error(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if strings.TrimSpace(line) != codex.Acknowledged.String() {
				t.Errorf("%q, %v", line, err)
			}
			_ = cmd.Wait()
		})
	}
	wg.Wait()
}
