// Command record makes the stream that the benchmark replays: it lets the real Codex run a goal of many turns on a scripted
// model and keeps every notification as it was on the wire, but for the names of this machine.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

func main() {
	turns := flag.Int("turns", 160, "turns of the goal")
	out := flag.String("out", "testdata/stream.jsonl.gz", "where the stream goes")
	flag.Parse()
	if err := record(*turns, *out); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

const prose = `The parser keeps one token of lookahead, so the right fix surely belongs where a literal ends. `

const report = `The test passes now. The error for an unterminated literal names the line where it began. `

func script(turns int) codextest.Script {
	var list [][]codextest.Reply
	for n := range turns {
		first := codextest.Reply{codextest.Paced(fmt.Sprintf("Step %d. ", n+1)+prose, 2*time.Millisecond)}
		switch n % 4 {
		case 0:
			first = append(first, codextest.Exec("for n in $(seq 24); do echo \"compiling package $n\"; sleep 0.02; done"))
		case 1:
			first = append(first, codextest.ApplyPatch(fmt.Sprintf("*** Begin Patch\n*** Add File: notes/step%d.md\n+# Step %d\n+\n+%s\n*** End Patch\n", n, n, report)))
		case 2:
			first = append(first, codextest.Exec("for p in scanner parser printer cmd internal/source internal/token; do echo \"ok  $p  0.0${#p}s\"; sleep 0.02; done"))
		}
		last := codextest.Reply{codextest.Paced(report, 2*time.Millisecond), codextest.Usage{Input: int64(1000 + n*37), Cached: 400, Output: 90}}
		replies := []codextest.Reply{append(first, codextest.Usage{Input: int64(900 + n*37), Cached: 300, Output: 60}), last}
		if n%4 == 3 {
			replies = replies[:1]
		}
		if n == turns-1 {
			replies = []codextest.Reply{{codextest.UpdateGoal("complete")}, last}
		}
		list = append(list, replies)
	}
	return codextest.PerTurn(list...)
}

func record(turns int, out string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	model, err := codextest.NewModel(script(turns))
	if err != nil {
		return err
	}
	defer model.Close()
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	home, err := codextest.NewHome(dir, model.URL(), codextest.HomeOptions{Settings: map[string]string{"sandbox_mode": `"danger-full-access"`}})
	if err != nil {
		return err
	}
	var trace bytes.Buffer // complete when the client is closed
	c, err := codex.Start(ctx, codex.Options{Env: home.Env(), Dir: home.Work, Trace: &trace})
	if err != nil {
		return err
	}
	defer c.Close()
	cwd := home.Work
	thread, err := codex.Call(ctx, c, protocol.ThreadStartMethod, protocol.ThreadStartParams{Cwd: protocol.Some(cwd)})
	if err != nil {
		return err
	}
	events := c.Subscribe(codex.SubscribeOptions{Thread: thread.Thread.ID})
	if _, err := codex.Call(ctx, c, protocol.ThreadGoalSetMethod, protocol.ThreadGoalSetParams{
		ThreadID: thread.Thread.ID, Objective: protocol.Some("Make the parser accept escaped quotes at the end of a literal."),
	}); err != nil {
		return err
	}
	for complete := false; ; {
		e, err := events.Next(ctx)
		if err != nil {
			return err
		}
		switch n := e.Notification.(type) {
		case *protocol.ThreadGoalUpdatedNotification:
			complete = n.Goal.Status == protocol.ThreadGoalStatusComplete
		case *protocol.TurnCompletedNotification:
			if complete {
				_ = c.Close()
				return save(&trace, out, dir, home)
			}
		}
	}
}

// save keeps the notifications, without the paths and names of this machine.
func save(trace *bytes.Buffer, out, dir string, home *codextest.Home) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	clean := strings.NewReplacer(home.Work, "/project", home.Path, "/home/dev/.codex", dir, "/home/dev", `"serverName":"`+host+`"`, `"serverName":"host"`)
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	zip, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	for dec := json.NewDecoder(trace); ; {
		var l struct {
			Dir   string
			Frame json.RawMessage
		}
		if err := dec.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if l.Dir != "in" || !bytes.HasPrefix(l.Frame, []byte(`{"method":`)) {
			continue
		}
		line := clean.Replace(string(l.Frame))
		if strings.Contains(line, os.TempDir()) {
			return fmt.Errorf("a path of this machine is left: %s", line)
		}
		if _, err := fmt.Fprintln(zip, line); err != nil {
			return err
		}
	}
	return zip.Close()
}
