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

// follower watches one operation to its end. It alone reads the stream.
type follower struct {
	link    *link
	events  <-chan incoming
	show    show
	timeout time.Duration // 0: none
	prompt  bool          // the operation was begun by a prompt

	questions <-chan question // what the person at the terminal is asked; nil: nobody asks
	answers   <-chan string   // lines they write
	terminal  io.Writer       // where they are put
	asking    *question       // the one that waits for a line
	held      []control.Event // what came while a question stood on the terminal

	operation string // its id; "" until it is known
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

var errDetached = errors.New("not waiting any longer; the work goes on (codexctl stop ends it)")

// attach begins to read the stream, until ctx ends.
func (f *follower) attach(ctx context.Context, l *link) {
	f.link, f.events = l, pump(ctx, l.Conn)
}

// begin sends a command, shows what comes meanwhile and returns the result. A
// command that begins or joins an operation makes it the one to follow.
func (f *follower) begin(cmd control.Command) (*control.Value, error) {
	if err := f.link.Send(cmd); err != nil {
		return nil, err
	}
	for in := range f.events {
		if in.err != nil {
			return nil, control.Lost(cmd, in.err)
		}
		f.take(in.event)
		if r, ok := in.event.Payload.(*control.CommandResult); ok && r.ID == cmd.ID {
			value, err := r.Unpack()
			if err != nil {
				return nil, commandError(err)
			}
			f.operation = value.Operation
			return value, nil
		}
	}
	return nil, context.Canceled
}

// take shows an event and remembers what matters.
func (f *follower) take(e control.Event) {
	if f.asking != nil {
		f.held = append(f.held, e)
	} else {
		_ = f.show.event(e)
	}
	switch p := e.Payload.(type) {
	case *control.OperationEnded:
		f.ended = p
	case *control.TurnEnded:
		if f.prompt && f.turn == nil {
			f.turn = p
		}
	}
}

func (f *follower) over() bool {
	return f.ended != nil && f.ended.Operation.ID == f.operation
}

// wait follows the operation to its end. In the owner an interrupt stops the
// operation, and a second one ends everything at once; elsewhere it ends the
// wait alone. A stream that ends first is an error.
func (f *follower) wait(ctx context.Context, onTurn func()) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var deadline <-chan time.Time
	if f.timeout > 0 {
		timer := time.NewTimer(f.timeout)
		defer timer.Stop()
		deadline = timer.C
	}
	for !f.over() {
		select {
		case in, open := <-f.events:
			if !open {
				return context.Cause(ctx)
			}
			if in.err != nil {
				return f.lost(in.err)
			}
			had := f.turn
			f.take(in.event)
			if had == nil && f.turn != nil && onTurn != nil {
				onTurn()
			}
		case <-tick.C:
			if f.asking == nil {
				_ = f.show.tick()
			}
		case q := <-f.nextQuestion():
			f.ask(q)
		case line := <-f.answers:
			f.answered(line)
		case <-f.withdrawn():
			f.settle(false, "settled elsewhere")
		case <-deadline:
			f.timedOut = true
			if err := f.stop("time is up; pausing the goal and stopping"); err != nil {
				return err
			}
		case <-signals:
			if f.link.own == nil {
				return &exitError{exitStopped, errDetached}
			}
			if f.stopping {
				return &exitError{exitStopped, errors.New("ended without waiting for the stop")}
			}
			if err := f.stop("stopping; once more to end at once"); err != nil {
				return err
			}
		}
	}
	return nil
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
		f.operation, f.timeout, f.stopping = op.ID(), 0, false
		if err := f.wait(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) stop(note string) error {
	f.stopping = true
	_ = f.show.note(note)
	return f.link.Send(control.Command{ID: commandID(), Name: control.Stop})
}

func (f *follower) lost(err error) error {
	if errors.Is(err, io.EOF) {
		return &exitError{exitFailed, errors.New("the owner went away before the work ended; codexctl status tells what is left")}
	}
	return err
}

// code is the exit code for the way the operation ended.
func (f *follower) code() exitCode {
	if f.prompt && f.turn != nil {
		return turnCode(f.turn)
	}
	code := endCode(f.ended)
	if f.timedOut && code != exitOK {
		return exitTimeout
	}
	return code
}

func turnCode(t *control.TurnEnded) exitCode {
	switch t.Status {
	case "completed":
		return exitOK
	case "interrupted":
		return exitStopped
	default:
		return exitFailed
	}
}

// endCode is the exit code for the end of an operation.
func endCode(e *control.OperationEnded) exitCode {
	switch e.End {
	case "complete", "done":
		return exitOK
	case "stopped", "interrupted", "stalled", "paused", "cleared":
		return exitStopped
	case "blocked":
		if e.TurnError != nil {
			return exitFailed
		}
		return exitLimited
	case "usageLimited", "budgetLimited":
		return exitLimited
	default:
		return exitFailed
	}
}

// commandError gives a refused command its exit code.
func commandError(err error) error {
	var refusal *control.Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	code := exitFailed
	switch refusal.Code {
	case control.Malformed:
		code = exitUsage
	case control.Busy, control.OwnerFinished:
		code = exitBusy
	case control.Stopped:
		code = exitStopped
	case control.DeliveryUnknown:
		code = exitUnknown
	}
	return &exitError{code, fmt.Errorf("%w", refusal)}
}
