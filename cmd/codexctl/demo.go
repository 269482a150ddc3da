package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
	"github.com/codexctl/codexctl/goal"
)

type demoOptions struct {
	streams streams
	json    bool
}

func newDemo(s streams) *cobra.Command {
	o := &demoOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch the real Codex work on a goal that is replaced while a turn runs; no account, no network",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print one event a line")
	return cmd
}

const (
	demoFirst  = "Count the words in notes.txt"
	demoSecond = "Count the lines in notes.txt"
	demoNotes  = "one goal\ntwo lines\n"
	demoBudget = 20000
)

// story is what the demonstration's model does. It is told nothing but what
// Codex tells it, and its answers follow from that.
type story struct {
	replaced *codextest.Gate // holds the first answer until the objective was replaced
	heard    chan codextest.Request
}

// script is the model: the first turn reads a file and is held; once the same
// turn has been told the new objective it says so and ends; the next turn counts
// and completes the goal.
func (s *story) script() codextest.Script {
	first, looked := "", false
	return func(r codextest.Request) codextest.Reply {
		if first == "" {
			first = r.Turn
		}
		switch {
		case r.Turn == first && !looked:
			looked = true
			return codextest.Reply{codextest.Text("I look at the notes first."), codextest.CallID("look", "exec_command", map[string]any{"cmd": "cat notes.txt"})}
		case r.Turn == first && r.Heard(demoSecond):
			select {
			case s.heard <- r:
			default:
			}
			return codextest.Reply{codextest.Text("The objective has changed: lines it is, not words.")}
		case r.Turn == first:
			return codextest.Reply{codextest.Paced("Counting words …", 10*time.Millisecond), s.replaced}
		}
		if _, done := r.Output("done"); done {
			return codextest.Reply{codextest.Text("notes.txt has 2 lines.")}
		}
		if _, counted := r.Output("count"); counted {
			return codextest.Reply{codextest.CallID("done", "update_goal", map[string]any{"status": "complete"}), codextest.Usage{}}
		}
		return codextest.Reply{codextest.CallID("count", "exec_command", map[string]any{"cmd": "wc -l notes.txt"})}
	}
}

func runDemo(ctx context.Context, o *demoOptions) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the demonstration did not end within a minute"))
	defer cancel()
	dir, err := os.MkdirTemp("", "codexctl-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	tale := &story{replaced: codextest.NewGate(), heard: make(chan codextest.Request, 1)}
	model, err := codextest.NewModel(tale.script())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	stage, err := raise(ctx, dir, model)
	if err != nil {
		return startError(err)
	}
	defer func() { err = errors.Join(err, stage.own.close()) }()

	t := &timeline{streams: o.streams, json: o.json, began: stage.began, turns: map[string]int{}}
	t.say("", "codex "+stage.own.worker.Client().Server().Version, "the real one, on a scripted model: no account, no network")
	t.say("", "thread", stage.own.worker.Thread())
	return tell(ctx, stage, tale, t)
}

// stage is a real Codex in a place of its own.
type stage struct {
	own   *owner
	began time.Time
}

func raise(ctx context.Context, dir string, model *codextest.Model) (*stage, error) {
	began := time.Now()
	home, err := codextest.NewHome(dir, model.URL(), codextest.HomeOptions{})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(home.Work, "notes.txt"), []byte(demoNotes), 0o600); err != nil {
		return nil, err
	}
	own := newOwner(io.NopCloser(nil))
	own.manager, err = worker.NewManager(worker.Options{
		StateDir: filepath.Join(dir, "state"),
		Codex:    codex.Options{Env: home.Env(), Client: codex.ClientInfo{Version: moduleVersion()}},
	})
	if err != nil {
		return nil, err
	}
	own.worker, err = own.manager.Worker(ctx, worker.Key{Project: "demo", Session: "demo", Dir: home.Work})
	if err == nil {
		own.controller, err = control.New(own.worker, control.Owner{PID: os.Getpid()})
	}
	if err != nil {
		return nil, errors.Join(err, own.close())
	}
	return &stage{own: own, began: began}, nil
}

// tell runs the story and shows it as it happens.
func tell(ctx context.Context, stage *stage, tale *story, t *timeline) error {
	conn := stage.own.controller.Connect()
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &follower{show: t}
	defer f.detach()
	f.attach(ctx, &link{Conn: conn, own: stage.own})
	set := control.Command{ID: "demo-1", Name: control.GoalSet, Text: demoFirst, Budget: protocol.Some[int64](demoBudget)}
	if _, err := f.begin(ctx, set); err != nil {
		return err
	}
	// The first turn is held in the middle of an answer: now the goal is replaced.
	if err := reach(ctx, f, tale.replaced); err != nil {
		return err
	}
	asked := time.Now()
	t.say("", "replace", fmt.Sprintf("while turn %d runs: %s", t.count, demoSecond))
	if _, err := f.begin(ctx, control.Command{ID: "demo-2", Name: control.GoalSet, Text: demoSecond}); err != nil {
		return err
	}
	t.say("", "acknowledged", fmt.Sprintf("by Codex after %d ms", time.Since(asked).Milliseconds()))
	tale.replaced.Open()
	t.heard = tale.heard
	if err := f.wait(ctx); err != nil {
		return err
	}
	if !t.inSameTurn {
		return errors.New("the new objective did not reach the turn that was running")
	}
	if code := f.code(); code != exitOK || t.count < 2 {
		return fmt.Errorf("the goal ended %s after %d turns", f.ended.End, t.count)
	}
	return t.finish(f.ended)
}

// reach shows events until the gate holds an answer.
func reach(ctx context.Context, f *follower, gate *codextest.Gate) error {
	for {
		select {
		case in, open := <-f.events:
			if !open {
				return context.Cause(ctx)
			}
			if in.err != nil {
				return in.err
			}
			f.take(in.event)
		case <-gate.Reached():
			return nil
		}
	}
}

// timeline shows the story in short lines, or its events as they are.
type timeline struct {
	streams streams
	json    bool
	began   time.Time
	turns   map[string]int // numbers by native id
	count   int
	last    string // the last goal shown

	heard      <-chan codextest.Request // nil until the objective was replaced
	inSameTurn bool
}

func (t *timeline) event(e control.Event) error {
	if t.json {
		line, err := e.Encode()
		if err != nil {
			return err
		}
		if _, err := t.streams.out.Write(line); err != nil {
			return err
		}
	}
	switch p := e.Payload.(type) {
	case *control.GoalUpdated:
		if line := p.Goal.Label + p.Goal.Objective; line != t.last {
			t.last = line
			t.say(p.Goal.State, "goal "+p.Goal.Label, p.Goal.Objective)
		}
	case *control.TurnStarted:
		t.count++
		t.turns[p.Turn] = t.count
		t.say("", fmt.Sprintf("turn %d started", t.count), p.Turn)
	case *control.TurnEnded:
		t.say("", fmt.Sprintf("turn %d %s", t.turns[p.Turn], p.Status), p.Turn)
	case *control.ItemCompleted:
		t.item(p.ItemEvent)
	}
	return nil
}

func (t *timeline) item(i control.ItemEvent) {
	select {
	case r := <-t.heard:
		// The model's own record of the request: same turn id, new objective.
		t.inSameTurn = t.turns[r.Turn] == 1
		t.say("", "model told", fmt.Sprintf("in turn %d (%s): %s", t.turns[r.Turn], r.Turn, r.Objective()))
	default:
	}
	switch i.Type {
	case "agentMessage":
		t.say("", "model says", view.Clean(i.Summary))
	case "commandExecution":
		t.say("", "ran", view.Clean(i.Summary))
	}
}

// say prints one line: seconds since the start, the dot of a goal's state, what
// happened and to what.
func (t *timeline) say(state goal.State, what, about string) {
	if t.json {
		return
	}
	dot := " "
	if state != "" {
		dot = view.Dot(state, t.streams.colour())
	}
	fmt.Fprintf(t.streams.out, "%5.1fs %s %-17s %s\n", time.Since(t.began).Seconds(), dot, what, about)
}

func (t *timeline) finish(ended *control.OperationEnded) error {
	if t.json {
		return nil
	}
	_, err := fmt.Fprintln(t.streams.out, goalLine(t.streams, ended.Goal))
	return err
}

func (t *timeline) note(string) error { return nil }
func (t *timeline) tick() error       { return nil }
func (t *timeline) pause() error      { return nil }
func (t *timeline) end() error        { return nil }
