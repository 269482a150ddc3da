package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/codexctl/codexctl/codex/control"
)

// follower sends commands and watches one operation to its end. It alone reads
// the stream, and one goroutine uses it.
type follower struct {
	link    *link
	events  <-chan incoming
	show    show
	timeout time.Duration // 0: none
	prompt  bool          // the operation was begun by a prompt
	onTurn  func()        // a prompt's own turn has ended; nil: nobody cares

	signals  chan os.Signal // that ask for the end; nil: none are heeded
	hurries  interrupts
	deadline <-chan time.Time
	tick     *time.Ticker

	streams   streams
	questions <-chan question // what the person at the terminal is asked; nil: nobody asks
	asking    *question       // the one that stands on the terminal
	answers   <-chan string   // the line they write
	held      []control.Event // what came while a question stood on the terminal
	mute      error           // why events cannot be shown any more

	quiet     silence
	sent      string // id of the command whose result is awaited
	result    *control.CommandResult
	operation string        // its id; "" until it is known
	goal      *control.Goal // as it was last told of; nil: none, or none yet
	ended     *control.OperationEnded
	turn      *control.TurnEnded // the prompt's own turn, once it has ended
	stopping  bool
	timedOut  bool
}

// incoming is an event or the end of the stream.
type incoming struct {
	event control.Event
	err   error
}

// pump reads the stream until it ends or ctx does.
func pump(ctx context.Context, conn *control.Conn) <-chan incoming {
	events := make(chan incoming)
	go func() {
		defer close(events)
		for {
			e, err := conn.Next(ctx)
			select {
			case events <- incoming{e, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return events
}

var (
	errAbandoned  = errors.New("ended without waiting for the stop")
	errBeforeWork = errors.New("interrupted before anything was asked of Codex")
	errOwnerGone  = errors.New("the owner went away before the work ended; codexctl status tells what is left")
)

// heed listens for interrupts from now on. The context it returns ends with one
// that comes before attach; later ones are for step.
func (f *follower) heed(ctx context.Context) (early context.Context, stop func()) {
	f.signals = make(chan os.Signal, 2)
	notifyEnd(f.signals)
	// A pipe that nobody reads any more is an error to deal with, not an end.
	signal.Ignore(syscall.SIGPIPE)
	return f.untilSignal(ctx)
}

// untilSignal is ctx until a signal asks for the end. Stop gives the signals back.
func (f *follower) untilSignal(ctx context.Context) (until context.Context, stop func()) {
	until, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case s := <-f.signals:
			if until.Err() != nil {
				f.signals <- s // it came with the end of the wait: it is for step
				return
			}
			cancel(&exitError{exitStopped, errBeforeWork})
		case <-until.Done():
		}
	}()
	return until, func() { cancel(nil) }
}

// attach begins to read the stream, until ctx ends.
func (f *follower) attach(ctx context.Context, l *link) {
	f.link, f.events = l, pump(ctx, l.Conn)
	f.tick = time.NewTicker(time.Second)
	if f.timeout > 0 {
		f.deadline = time.After(f.timeout)
	}
}

// detach gives back what the follower holds.
func (f *follower) detach() {
	if f.signals != nil {
		signal.Stop(f.signals)
	}
	if f.tick != nil {
		f.tick.Stop()
	}
}

// begin sends a command, shows what comes meanwhile and returns the result. A
// command that begins or joins an operation makes it the one to follow.
func (f *follower) begin(ctx context.Context, cmd control.Command) (*control.Value, error) {
	f.sent, f.result = cmd.ID, nil
	if err := f.link.Send(cmd); err != nil {
		return nil, err
	}
	f.quiet.heard(time.Now())
	for f.result == nil {
		if err := f.step(ctx); err != nil {
			return nil, control.Lost(cmd, err)
		}
		if err := f.alive(cmd.Name); err != nil {
			return nil, err
		}
	}
	value, err := f.result.Unpack()
	if err != nil {
		return nil, commandError(err)
	}
	f.operation, f.goal = value.Operation, value.Goal
	return value, nil
}

// alive looks after an owner that is to answer a command: one that says nothing at
// all is not waited for without an end.
func (f *follower) alive(sent control.Name) error {
	if f.link.own != nil {
		return nil
	}
	ask, over := f.quiet.over(time.Now())
	switch {
	case over:
		return noAnswer(f.link.other, sent)
	case ask:
		return f.link.Send(control.Command{ID: commandID(), Name: control.Status})
	}
	return nil
}

// wait follows the operation to its end. A stream that ends first is an error.
func (f *follower) wait(ctx context.Context) error {
	for !f.over() {
		if err := f.step(ctx); errors.Is(err, io.EOF) {
			return &exitError{exitFailed, errOwnerGone}
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) over() bool {
	return f.ended != nil && f.ended.Operation.ID == f.operation
}

// step waits for the next thing to happen and deals with it.
func (f *follower) step(ctx context.Context) error {
	select {
	case in, open := <-f.events:
		switch {
		case !open:
			return context.Cause(ctx)
		case in.err != nil:
			return in.err
		}
		f.take(in.event)
		return f.heard()
	case <-f.tick.C:
		if f.asking == nil {
			f.showed(f.show.tick())
		}
		return f.heard()
	case q := <-f.nextQuestion():
		f.ask(q)
	case line := <-f.answers:
		f.answered(line)
	case <-f.deadline:
		f.timedOut = true
		return f.stop("time is up; pausing the goal and stopping")
	case s := <-f.signals:
		return f.signalled(s)
	}
	return nil
}

// signalled deals with a signal. In the owner it stops the operation, and a second
// interrupt ends everything at once; elsewhere it ends the wait alone.
func (f *follower) signalled(s os.Signal) error {
	hurry := f.hurries.hurry(s, time.Now())
	note := "stopping"
	if s == os.Interrupt {
		note += "; once more to end at once"
	}
	switch {
	case f.link.own == nil:
		return f.detached()
	case hurry:
		_ = f.show.note("ending at once")
		f.link.own.kill()
		return errAbandoned
	case !f.stopping:
		return f.stop(note)
	case s == os.Interrupt:
		_ = f.show.note(note)
	}
	return nil
}

// detached ends the wait for another process's work. That work is not stopped, so
// the code does not say that it is.
func (f *follower) detached() error {
	state := ""
	if f.goal != nil {
		state = goalState(f.goal) + "; "
	}
	return &exitError{exitUnknown, fmt.Errorf("not waiting any longer; %swhat was asked for takes its course: codexctl stop ends it", state)}
}

func (f *follower) display(e control.Event) {
	f.showed(f.show.event(e))
}

func (f *follower) showed(err error) {
	if err != nil && f.mute == nil {
		f.mute = err
	}
}

// heard ends work that nobody can be told of any more: in the owner it is
// stopped, elsewhere it is left alone.
func (f *follower) heard() error {
	switch {
	case f.mute == nil || f.stopping:
		return nil
	case f.link.own == nil:
		return f.mute
	}
	return f.stop("the output is closed; stopping")
}

// take shows an event and remembers what matters.
func (f *follower) take(e control.Event) {
	f.quiet.heard(time.Now())
	if f.asking != nil {
		f.held = append(f.held, e)
	} else {
		f.display(e)
	}
	switch p := e.Payload.(type) {
	case *control.CommandResult:
		if p.ID == f.sent {
			f.result = p
		}
	case *control.GoalUpdated:
		f.goal = &p.Goal
	case *control.GoalCleared:
		f.goal = nil
	case *control.OperationEnded:
		f.ended = p
	case *control.TurnEnded:
		if f.prompt && f.turn == nil {
			f.turn = p
			if f.onTurn != nil {
				f.onTurn()
			}
		}
	}
}

// stay keeps an owner going while others have work on it, begun after its own.
func (f *follower) stay(ctx context.Context) error {
	if f.link.own == nil {
		return nil
	}
	for !f.link.own.controller.Retire() {
		op := f.link.own.worker.Status().Operation
		if op == nil || op.ID() == f.operation { // a command of somebody's is on its way
			select {
			case <-time.After(10 * time.Millisecond):
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		_ = f.show.note("another command has begun new work; staying until it is done")
		f.operation, f.deadline, f.stopping = op.ID(), nil, false
		if err := f.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) stop(note string) error {
	f.stopping = true
	_ = f.show.note(note)
	// An owner that is told to end takes no new work meanwhile; another process's
	// goes on to be there for others.
	return f.link.Send(control.Command{ID: commandID(), Name: control.Stop, Owner: f.link.own != nil})
}
