package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
)

// question asks the person at the terminal for leave.
type question struct {
	asked  string
	answer chan<- bool
	gone   <-chan struct{} // nobody waits for the answer any more
}

// desk is where Codex's requests arrive: on a terminal they are put to the
// person there, one after the other.
func (o *operateOptions) desk(f *follower) *desk {
	if !o.streams.tty.in {
		return &desk{}
	}
	questions := make(chan question)
	f.questions = questions
	f.answers = readLines(o.streams)
	f.terminal = o.streams.err
	return &desk{ask: func(ctx context.Context, asked string) (bool, error) {
		answer := make(chan bool, 1)
		select {
		case questions <- question{asked: asked, answer: answer, gone: ctx.Done()}:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		select {
		case accept := <-answer:
			return accept, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}}
}

// readLines reads the terminal for as long as the process lives: a read of it
// cannot be called off.
func readLines(s streams) <-chan string {
	lines := make(chan string)
	go func() {
		in := bufio.NewScanner(s.in)
		for in.Scan() {
			lines <- in.Text()
		}
	}()
	return lines
}

// nextQuestion is the queue of questions while none stands on the terminal.
func (f *follower) nextQuestion() <-chan question {
	if f.asking != nil {
		return nil
	}
	return f.questions
}

// withdrawn is closed when the question on the terminal has been settled elsewhere.
func (f *follower) withdrawn() <-chan struct{} {
	if f.asking == nil {
		return nil
	}
	return f.asking.gone
}

func (f *follower) ask(q question) {
	f.asking = &q
	_ = f.show.pause()
	fmt.Fprintf(f.terminal, "Codex asks to %s\nAccept? [y/N] ", view.Clean(q.asked))
}

// answered takes a line from the terminal. Lines nobody asked for are dropped.
func (f *follower) answered(line string) {
	if f.asking == nil {
		return
	}
	word := strings.ToLower(strings.TrimSpace(line))
	f.settle(word == "y" || word == "yes", "")
}

func (f *follower) settle(accept bool, note string) {
	f.asking.answer <- accept
	f.asking = nil
	if note != "" {
		fmt.Fprintln(f.terminal, note)
	}
	for _, e := range f.held {
		_ = f.show.event(e)
	}
	f.held = nil
}
