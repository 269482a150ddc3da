package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/control"
)

// errNothingStored says that a session has no thread yet, and nobody makes one.
var errNothingStored = errors.New("this session has no thread and no goal yet; codexctl goal OBJECTIVE begins one")

// visit finds the owner, or with no owner becomes it for as long as one command
// takes, if there is anything stored to look at.
func (o *operateOptions) visit(ctx context.Context, at site, key keyOptions) (*link, error) {
	if err := needStored(ctx, at, key); err != nil {
		return nil, err
	}
	return key.joined(join(ctx, at, func(ctx context.Context) (*owner, error) {
		return becomeOwner(ctx, at, key.thread, o.codex, false, &desk{})
	}))
}

// joined refuses an owner that works on another thread than the one asked for.
func (o keyOptions) joined(l *link, err error) (*link, error) {
	if err != nil || o.thread == "" || l.own != nil {
		return l, err
	}
	value, err := l.ask(context.Background(), control.Command{ID: commandID(), Name: control.Status})
	if err == nil && value.Status.Thread != o.thread {
		err = &exitError{exitBusy, fmt.Errorf("process %d owns this session on another thread; end it first: codexctl stop --owner", value.Status.Owner.PID)}
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// needStored fails with errNothingStored where neither an owner nor a stored
// thread is there and none is to be adopted.
func needStored(ctx context.Context, at site, key keyOptions) error {
	if key.thread != "" {
		return nil
	}
	switch s, found, err := storedAt(at); {
	case err != nil:
		return err
	case found && (s.Thread != "" || s.Owner != (codex.ProcessID{})):
		return nil
	}
	return errNothingStored
}

// call connects to the owner and carries out one command. With no owner it is
// control.ErrNoOwner; one that is just starting is waited for.
func call(ctx context.Context, at site, cmd control.Command) (*control.Value, error) {
	link, err := join(ctx, at, func(context.Context) (*owner, error) { return nil, noOwner(at) })
	if err != nil {
		return nil, err
	}
	defer link.Close()
	return link.ask(ctx, cmd)
}

// ask carries out one command. An owner that does not answer, because it was
// suspended say, is not waited for without an end.
func (l *link) ask(ctx context.Context, cmd control.Command) (*control.Value, error) {
	return l.askEach(ctx, cmd, nil)
}

// askEach is ask, and gives what comes meanwhile to each.
func (l *link) askEach(ctx context.Context, cmd control.Command, each func(control.Event)) (*control.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, ownerPatience)
	defer cancel()
	value, err := l.Do(ctx, cmd, each)
	if err != nil {
		return nil, l.answered(ctx, cmd, err)
	}
	return value, nil
}

// noOwner says that nobody owns the site, or that its owner is just starting,
// which join waits for.
func noOwner(at site) error {
	s, found, err := storedAt(at)
	if err != nil {
		return err
	}
	if found && s.Owner != (codex.ProcessID{}) && s.Socket == at.socket {
		return errStarting
	}
	return control.ErrNoOwner
}

// errStarting is an owner that has not come so far as to listen.
var errStarting = errors.New("the owner is just starting")

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
