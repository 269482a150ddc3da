package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/codexctl/codexctl/cmd/codexctl/internal/view"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/goal"
)

// operateOptions are those of every command that may begin an operation.
type operateOptions struct {
	streams  streams
	key      keyOptions
	codex    codexOptions
	timeout  timeoutFlag
	approval timeoutFlag // how long a request for leave waits for the person at the terminal
	json     bool
	wait     bool
	detach   bool
	id       string
}

func (o *operateOptions) register(flags *pflag.FlagSet) {
	flags.Var(&o.timeout, "timeout", "pause the goal and stop after this time, such as 30m")
	o.approval = timeoutFlag(10 * time.Minute)
	flags.Var(&o.approval, "approval-timeout", "decline a request for leave that nobody has answered by then")
	flags.BoolVar(&o.json, "json", false, "print one event a line")
	flags.BoolVar(&o.wait, "wait", false, "follow the work of another owner to its end")
	flags.BoolVar(&o.detach, "detach", false, "have an owner in the background do the work, and return at the acknowledgement")
	flags.StringVar(&o.id, "command-id", "", "the command's id: asked again with the same one, it is not carried out twice")
	o.key.register(flags)
	o.codex.register(flags)
}

func (o *operateOptions) check() error {
	if o.wait && o.detach {
		return usageError("--wait and --detach exclude each other")
	}
	if o.detach && o.timeout > 0 {
		return usageError("--timeout is kept by the command that follows the work; with --detach none does")
	}
	return o.codex.check()
}

func (o *operateOptions) commandID() string {
	if o.id != "" {
		return o.id
	}
	return commandID()
}

// show is how this command tells of events.
func (o *operateOptions) show(first view.State) show {
	return newShow(o.streams, o.json, o.streams.err, o.streams.tty.err, first)
}

// drive sends a command that begins or joins an operation and follows it, if it
// is this process's to follow.
func (o *operateOptions) drive(ctx context.Context, at site, cmd control.Command, first view.State) (err error) {
	o.streams.release()
	show := o.show(first)
	defer func() { err = errors.Join(err, show.end()) }()
	_ = show.tick()
	at.tell = func(text string) { _ = show.note(text) }
	f := &follower{show: show, timeout: time.Duration(o.timeout), prompt: cmd.Name == control.Prompt}
	f.onTurn = func() { o.answer(f) }
	defer f.detach()
	early, joined := f.heed(ctx)
	link, err := o.join(early, at, f)
	if err != nil {
		joined()
		return err
	}
	defer func() { err = errors.Join(err, link.close()) }()
	if early.Err() != nil {
		return context.Cause(early)
	}
	joined()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.attach(ctx, link)
	if err := link.sawRecovery(show); err != nil {
		return err
	}
	value, err := f.begin(ctx, cmd)
	if err != nil {
		return o.explain(ctx, at, link, err)
	}
	if value.Note != "" {
		_ = show.note(value.Note)
	}
	if value.Operation == "" || (link.own == nil && !o.wait) {
		if f.timeout > 0 {
			_ = show.note("--timeout is not kept: another process does the work; --wait follows it")
		}
		return o.acknowledged(show, cmd, value)
	}
	err = f.wait(ctx)
	if f.stopping {
		o.streams.hurry()
	}
	switch {
	case errors.Is(err, errAbandoned), errors.Is(err, errOwnerGone) && f.stopping:
		return o.settle(ctx, at, f, err)
	case err != nil:
		return err
	case f.unsettled():
		return o.settle(ctx, at, f, f.why())
	}
	if err := show.end(); err != nil {
		return err
	}
	result := o.result(f)
	if f.mute != nil {
		result = &exitError{exitStopped, f.mute}
	}
	return errors.Join(result, f.stay(ctx))
}

// settle ends a command whose stop nobody has acknowledged with what is so.
func (o *operateOptions) settle(ctx context.Context, at site, f *follower, said error) error {
	ctx, stop := f.untilSignal(ctx)
	defer stop()
	code := exitStopped
	if f.timedOut {
		code = exitTimeout
	}
	g, result := o.aftermath(ctx, at, f.link, said, code)
	if err := f.show.end(); err != nil {
		return errors.Join(result, err)
	}
	if g != nil && !o.json && !f.prompt {
		if _, err := fmt.Fprintln(o.streams.out, goalLine(o.streams, g)); err != nil {
			return errors.Join(result, err)
		}
	}
	return result
}

// join finds the owner or becomes it, here or in the background.
func (o *operateOptions) join(ctx context.Context, at site, f *follower) (*link, error) {
	if o.key.thread != "" && o.key.dir != "" {
		o.codex.dir = at.identity.Key.Dir // asked for; without -C an adopted thread stays where it is
	}
	start := func(ctx context.Context) (*owner, error) {
		return becomeOwner(ctx, at, o.key.thread, o.codex, true, o.desk(f))
	}
	if o.detach {
		start = func(ctx context.Context) (*owner, error) { return nil, o.background(ctx, at) }
	}
	return o.key.joined(join(ctx, at, start))
}

// acknowledged ends a command whose operation is not followed here.
func (o *operateOptions) acknowledged(show show, cmd control.Command, value *control.Value) error {
	if err := show.end(); err != nil {
		return err
	}
	if !o.json && cmd.Name != control.Prompt {
		if _, err := fmt.Fprintln(o.streams.out, goalLine(o.streams, value.Goal)); err != nil {
			return err
		}
	}
	if value.Operation == "" && value.Goal != nil && value.Goal.State != goal.Active {
		// Codex calls it a success, but no work began.
		return silently(exitLimited)
	}
	return nil
}

// answer prints a prompt's answer as soon as its own turn has ended.
func (o *operateOptions) answer(f *follower) {
	if f.turn != nil && f.turn.OnlyCommentary {
		_ = f.show.note("the turn has ended without an answer: all that was said was on the way to one")
	}
	if o.json || f.turn == nil || f.turn.Answer == "" {
		return
	}
	_ = f.show.pause()
	text := f.turn.Answer
	if o.streams.tty.out {
		text = view.CleanLines(text)
	}
	fmt.Fprintln(o.streams.out, text)
}

// result prints how the operation ended and gives the exit code.
func (o *operateOptions) result(f *follower) error {
	code := f.code()
	if !o.json && !f.prompt {
		line := goalLine(o.streams, f.ended.Goal)
		if f.ended.Goal == nil {
			line = f.ended.End
		}
		if _, err := fmt.Fprintln(o.streams.out, line); err != nil {
			return err
		}
	}
	if code == exitOK {
		return nil
	}
	return &exitError{code, f.why()}
}

// goalLine is a goal in one line.
func goalLine(s streams, g *control.Goal) string {
	columns := 0
	if s.tty.out {
		columns = s.tty.columns()
	}
	if g == nil {
		return view.Line(goal.None, "", "", columns, s.colour())
	}
	return view.Line(g.State, g.Objective, goalFigures(g), columns, s.colour())
}
