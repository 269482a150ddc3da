package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/goal"
)

// show tells a person or a program of events as they come.
type show interface {
	event(e control.Event) error
	note(text string) error // a remark of codexctl's own
	tick() error            // some time has passed
	pause() error           // something else is about to be printed
	end() error             // nothing more will come
}

// newShow chooses by what the output is: events as JSON on standard output, a
// live view on a terminal, plain lines elsewhere. Views go to where.
func newShow(s streams, asJSON bool, where *outlet, terminal bool, first view.State) show {
	switch {
	case asJSON:
		return &jsonShow{out: s.out, err: s.err}
	case terminal && s.env("TERM") != "dumb":
		return &liveShow{
			out: where, screen: view.NewScreen(where, s.tty.columns), columns: s.tty.columns, colour: s.env("NO_COLOR") == "",
			board: board{state: first}, began: time.Now(),
		}
	default:
		return &plainShow{out: where, board: board{state: first}}
	}
}

// jsonShow writes each event as it came, unless its reader is too slow: what is
// left out then is said by an event, and the lines are numbered without gaps.
type jsonShow struct {
	out, err *outlet
	dropped  uint64 // since the last line
	missing  uint64 // lines fewer than came
}

func (j *jsonShow) event(e control.Event) error {
	if j.dropped > 0 {
		e.Seq++ // for the event that tells of them
	}
	e.Seq -= j.missing
	if closed, ok := e.Payload.(*control.StreamClosed); ok {
		closed.Events = e.Seq - 1
	}
	line, err := e.Encode()
	if err != nil {
		return err
	}
	if j.dropped > 0 {
		lagged, err := control.Event{Seq: e.Seq - 1, Run: e.Run, Payload: &control.Lagged{Dropped: j.dropped}}.Encode()
		if err != nil {
			return err
		}
		line = append(lagged, line...)
	}
	switch taken, err := j.out.offer(line, roomFor(e.Payload)); {
	case err != nil:
		return err
	case !taken:
		j.dropped++
		j.missing++
	case j.dropped > 0:
		j.dropped = 0
		j.missing--
	}
	return nil
}

// roomFor is how much may wait before an event is left out.
func roomFor(p control.Payload) int {
	switch p.(type) {
	case *control.TextDelta, *control.Usage:
		return roomForPieces
	case *control.ItemStarted, *control.ItemCompleted:
		return roomForItems
	}
	return roomForAll
}

func (j *jsonShow) note(text string) error {
	_, err := fmt.Fprintln(j.err, text)
	return err
}

func (j *jsonShow) tick() error  { return broken(j.out) }
func (j *jsonShow) pause() error { return nil }
func (j *jsonShow) end() error   { return nil }

// broken is why what is written does not arrive any more.
func broken(o *outlet) error {
	_, err := o.Write(nil)
	return err
}

// board is what has been seen so far, and finds the words for what is new.
type board struct {
	state view.State
	last  string // the last goal line, so that a mere count is not told again
}

// take learns from an event and returns the lines that are worth keeping.
func (b *board) take(p control.Payload) []string {
	switch p := p.(type) {
	case *control.GoalUpdated:
		return b.goal(p.Goal)
	case *control.GoalCleared:
		b.state.Goal, b.last = goal.None, ""
		return []string{"goal cleared"}
	case *control.OperationStarted:
		b.state.Now = ""
	case *control.TurnStarted:
		b.state.Turn++
		b.state.Now = "working"
		return []string{fmt.Sprintf("turn %d started (%s)", b.state.Turn, p.Turn)}
	case *control.TurnEnded:
		b.state.Now = ""
		if p.Error != nil {
			return []string{fmt.Sprintf("turn %d %s: %s", b.state.Turn, p.Status, view.Clean(p.Error.Message))}
		}
		return []string{fmt.Sprintf("turn %d %s", b.state.Turn, p.Status)}
	case *control.ItemStarted:
		b.state.Now = control.Doing(p.ItemEvent)
	case *control.ItemCompleted:
		b.state.Now = "working"
		return itemLines(p.ItemEvent)
	case *control.ApprovalAsked:
		b.state.Now = "waiting for leave to " + p.Asked
	case *control.ApprovalAnswered:
		b.state.Now = "working"
		return []string{leaveLine(p)}
	case *control.Warning:
		return []string{"warning: " + view.Clean(p.Message)}
	case *control.Lagged:
		return []string{fmt.Sprintf("warning: %d events were left out, this end was too slow", p.Dropped)}
	}
	return nil
}

// leaveLine tells how a request for leave was settled.
func leaveLine(p *control.ApprovalAnswered) string {
	line := "leave to " + view.Clean(p.Asked) + ": "
	switch p.Decision {
	case "accept":
		line += "accepted"
	case "decline":
		line += "declined"
	default:
		line += view.Clean(p.Decision)
	}
	if p.By == control.ByUser {
		line += " by the user"
	}
	if p.Reason != "" {
		line += "; " + view.Clean(p.Reason)
	}
	if p.Thread != "" {
		line += " (asked by the sub-agent " + view.Clean(p.Thread) + ")"
	}
	return line
}

func (b *board) goal(g control.Goal) []string {
	b.state.Goal, b.state.Objective, b.state.Tokens, b.state.Budget = g.State, g.Objective, g.TokensUsed, g.TokenBudget
	line := "goal " + g.Label + ": " + view.Clean(g.Objective)
	if line == b.last {
		return nil
	}
	b.last = line
	return []string{line}
}

// itemLines tells of a finished item, if people care.
func itemLines(i control.ItemEvent) []string {
	switch i.Type {
	case "agentMessage":
		return strings.Split(strings.TrimRight(view.CleanLines(messageText(i)), "\n "), "\n")
	case "commandExecution":
		return []string{"ran " + view.Clean(i.Summary)}
	case "reasoning", "userMessage", "hookPrompt":
		return nil
	default:
		return []string{view.Clean(i.Summary)}
	}
}

// plainShow adds lines.
type plainShow struct {
	out   *outlet
	board board
}

func (s *plainShow) event(e control.Event) error {
	for _, line := range s.board.take(e.Payload) {
		if _, err := fmt.Fprintln(s.out, line); err != nil {
			return err
		}
	}
	return nil
}

func (s *plainShow) note(text string) error {
	_, err := fmt.Fprintln(s.out, text)
	return err
}

func (s *plainShow) tick() error  { return broken(s.out) }
func (s *plainShow) pause() error { return nil }
func (s *plainShow) end() error   { return nil }

// liveShow keeps a block at the end of the terminal.
type liveShow struct {
	out     *outlet
	screen  *view.Screen
	columns func() int
	colour  bool
	board   board
	began   time.Time
}

func (s *liveShow) event(e control.Event) error { return s.draw(s.board.take(e.Payload)) }

func (s *liveShow) note(text string) error { return s.screen.Print(text) }

func (s *liveShow) tick() error { return s.draw(nil) }

// draw leaves a picture out that the terminal is too slow for; lines it keeps.
func (s *liveShow) draw(above []string) error {
	if len(above) == 0 && s.out.behind() {
		return broken(s.out)
	}
	s.board.state.Elapsed = time.Since(s.began)
	columns := s.columns()
	if columns == 0 {
		columns = 80
	}
	return s.screen.Draw(view.Render(s.board.state, columns, s.colour), above...)
}

func (s *liveShow) pause() error { return s.screen.Clear() }
func (s *liveShow) end() error   { return s.screen.Clear() }
