package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/worker"
)

// closePatience bounds how long an owner takes to end: a stop and the end of the
// app-server.
const closePatience = 20 * time.Second

// owner is this process as the owner of a worker, listening for others.
type owner struct {
	manager    *worker.Manager
	worker     *worker.Worker
	controller *control.Controller
	listener   net.Listener
	held       io.Closer
	serving    sync.WaitGroup
	cancel     context.CancelFunc // of the streams, when they do not end by themselves
	closed     func() error       // close, once
}

// becomeOwner takes the identity, or fails with a *worker.OwnedError. To begin
// work takes a login; to look at what is stored does not.
func becomeOwner(ctx context.Context, at site, thread string, c codexOptions, work bool, desk *desk) (*owner, error) {
	found, err := findCodex(ctx)
	if err != nil {
		return nil, err
	}
	opts, held, err := c.worker(at.state, at.identity.CodexHome)
	if err != nil {
		return nil, err
	}
	opts.Codex.Path = found.path
	opts.Socket = func(worker.Identity) string { return at.socket }
	opts.Codex.Handlers, opts.Codex.HandlerTimeout = desk.handlers(), desk.patience
	opts.WithoutDir = !work
	opts.AnyConfig = !work
	o := newOwner(held)
	if o.manager, err = worker.NewManager(opts); err != nil {
		return nil, errors.Join(err, held.Close())
	}
	if thread == "" {
		o.worker, err = o.manager.Worker(ctx, at.identity.Key)
	} else {
		o.worker, err = o.manager.Adopt(ctx, at.identity.Key, thread)
	}
	if err == nil && work {
		// Where Codex does not tell, the work goes on: a model that wants a login says so.
		if login := checkLogin(ctx, o.worker.Client()); errors.Is(login, errNoLogin) {
			err = login
		}
	}
	if err == nil {
		o.controller, err = control.New(o.worker, control.Owner{PID: os.Getpid(), Socket: at.socket})
	}
	if err == nil && work {
		o.listener, err = control.Listen(at.socket)
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	if !work {
		return o, nil // others wait until it is over: it takes no time
	}
	desk.serve(o.worker)
	streams, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	o.serving.Go(func() { _ = o.controller.Accept(streams, o.listener) })
	return o, nil
}

func newOwner(held io.Closer) *owner {
	o := &owner{held: held}
	o.closed = sync.OnceValue(o.end)
	return o
}

// close ends the ownership; a second time it does nothing. Nobody new is let in, what runs is stopped, the
// app-server ended, and those who listen get what is left.
func (o *owner) close() error { return o.closed() }

// kill ends the app-server at once, without a stop: what it was doing is lost.
func (o *owner) kill() { _ = o.worker.Client().Kill() }

func (o *owner) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	var errs []error
	if o.listener != nil {
		errs = append(errs, o.listener.Close())
	}
	// What ended a worker by itself was told to those whom it concerned.
	if err := o.manager.Close(ctx); o.worker == nil || errors.Is(o.worker.Err(), worker.ErrClosed) {
		errs = append(errs, err)
	}
	if o.cancel != nil {
		// A listener that reads nothing must not hold the owner up.
		timer := time.AfterFunc(2*time.Second, o.cancel)
		o.serving.Wait()
		timer.Stop()
		o.cancel()
	}
	if o.controller != nil {
		o.controller.Close()
	}
	return errors.Join(append(errs, o.held.Close())...)
}
