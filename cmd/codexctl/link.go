package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/version"
	"github.com/codexctl/codexctl/codex/worker"
)

// link is a stream to the owner of an identity: another process, or this one.
type link struct {
	*control.Conn
	own   *owner        // nil when another process owns
	other worker.Holder // that process, if it is known
}

// site is where a command works: the identity, and where its state is.
type site struct {
	identity worker.Identity
	state    string
	socket   string
	tell     func(string) // tells the person of a wait
}

// newSite is where a command that begins work does it.
func newSite(s streams, key keyOptions) (site, error) {
	id, err := key.resolve(s)
	if err != nil {
		return site{}, err
	}
	return siteOf(s, id)
}

// knownSite is where a command looks, stops, pauses or clears: that needs no
// directory.
func knownSite(s streams, key keyOptions) (site, error) {
	state, err := stateDir(s)
	if err != nil {
		return site{}, err
	}
	id, err := key.find(s, state)
	if err != nil {
		return site{}, err
	}
	return siteOf(s, id)
}

func siteOf(s streams, id worker.Identity) (site, error) {
	state, err := stateDir(s)
	if err != nil {
		return site{}, err
	}
	return site{
		identity: id, state: state, socket: control.SocketPath(state, id.Hash()),
		tell: func(text string) { fmt.Fprintln(s.err, text) },
	}, nil
}

// join finds the owner, or becomes it with start. It waits for an owner that is
// just starting, and starts nothing meanwhile.
func join(ctx context.Context, at site, start func(context.Context) (*owner, error)) (*link, error) {
	wait := newStartWait(at)
	for {
		conn, err := at.dial(ctx)
		if err == nil {
			l := &link{Conn: conn, other: at.holder()}
			if err := suspended(l.other); err != nil {
				return nil, errors.Join(err, l.Close())
			}
			return l, nil
		}
		if !errors.Is(err, control.ErrNoOwner) {
			return nil, err
		}
		if holder := at.holder(); holder.Socket != at.socket || holder.Process.PID == os.Getpid() {
			own, err := start(ctx)
			if err == nil {
				return &link{Conn: own.controller.Connect(), own: own}, nil
			}
			var owned *worker.OwnedError
			starting := errors.Is(err, errStarting) || errors.As(err, &owned) && (owned.Owner.PID == 0 || owned.Socket == at.socket)
			if !starting {
				return nil, startError(err)
			}
		}
		if err := wait.next(ctx); err != nil {
			return nil, err
		}
	}
}

// startError gives an error of a start its exit code.
func startError(err error) error {
	var unsupported *version.UnsupportedError
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		return err
	case errors.As(err, &unsupported), errors.Is(err, codex.ErrNoExecutable):
		return &exitError{exitNoCodex, err}
	case errors.Is(err, worker.ErrOwned), errors.Is(err, worker.ErrPredecessorAlive):
		return &exitError{exitBusy, err}
	}
	return err
}

// commandID makes an id that no other command has.
func commandID() string { return control.NewID() }

// close ends the stream, and the ownership where it is this process's.
func (l *link) close() error {
	if l.own == nil {
		return l.Conn.Close()
	}
	return errors.Join(l.Conn.Close(), l.own.close())
}

// sawRecovery shows what was found out about mutations of an earlier owner, and what
// the thread runs with in another way than one would think. Only a new owner finds
// out.
func (l *link) sawRecovery(show show) error {
	if l.own == nil {
		return nil
	}
	for _, r := range l.own.worker.Recovered() {
		if err := show.note("recovered: " + r.String()); err != nil {
			return err
		}
	}
	if differs := l.own.worker.Differences(); len(differs) > 0 {
		return show.note("settings: " + strings.Join(differs, "; "))
	}
	return nil
}
