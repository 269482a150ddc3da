package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex"
)

// question asks the person at the terminal for leave.
type question struct {
	asked  string
	answer chan<- bool
	gone   context.Context // ends when nobody waits for the answer any more
}

// desk is where Codex's requests arrive: on a terminal they are put to the
// person there, one after the other.
func (o *operateOptions) desk(f *follower) *desk {
	if !o.streams.tty.in {
		return &desk{}
	}
	questions := make(chan question)
	f.questions, f.streams = questions, o.streams
	return &desk{patience: time.Duration(o.approval), ask: func(ctx context.Context, asked string) (bool, error) {
		answer := make(chan bool, 1)
		select {
		case questions <- question{asked: asked, answer: answer, gone: ctx}:
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

// nextQuestion is the queue of questions while none stands on the terminal.
func (f *follower) nextQuestion() <-chan question {
	if f.asking != nil {
		return nil
	}
	return f.questions
}

// ask puts a question to the person. What was typed before is no answer to it.
func (f *follower) ask(q question) {
	f.asking = &q
	_ = f.show.pause()
	f.streams.tty.drain()
	fmt.Fprintf(f.streams.err, "Codex asks to %s\nAccept? [y/N] ", view.Clean(q.asked))
	answers := make(chan string, 1)
	f.answers = answers
	go func() {
		line, err := f.streams.tty.line(q.gone)
		switch {
		case q.gone.Err() != nil:
			answers <- withdrawn
		case err != nil:
			answers <- ""
		default:
			answers <- line
		}
	}()
}

// withdrawn is no line that could be typed.
const withdrawn = "\n"

// answered takes what the person wrote: only a clear yes is one.
func (f *follower) answered(line string) {
	word := strings.ToLower(strings.TrimSpace(line))
	if line == withdrawn {
		why := "withdrawn"
		if errors.Is(context.Cause(f.asking.gone), codex.ErrHandlerTimeout) {
			why = "no answer in time; declined"
		}
		fmt.Fprintln(f.streams.err, why)
	}
	f.asking.answer <- word == "y" || word == "yes"
	f.asking, f.answers = nil, nil
	for _, e := range f.held {
		f.display(e)
	}
	f.held = nil
}
