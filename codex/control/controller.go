package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
	"github.com/codexctl/codexctl/goal"
)

// Controller carries out commands on one worker and tells what happens on it.
// It serves any number of streams, and an embedder in process without one.
type Controller struct {
	w     driver
	ids   *ledger
	name  string // of this run
	owner Owner

	ctx  context.Context // ends when the controller closes; commands in flight end with it
	stop context.CancelFunc
	work sync.WaitGroup // the lane, the observer and commands in flight

	mu      sync.Mutex
	queue   []*job        // mutations that wait for the lane
	wake    chan struct{} // the queue is not empty any more
	busy    int           // mutations being carried out
	streams int           // being served
	active  time.Time     // when something happened last
	closed  bool          // no more mutations
	leave   bool          // the owner was told to end: no more mutations but stops
	seen    observation
	ending  chan struct{} // closed when a stop asked for the owner's end
}

// driver is what a controller needs of a *worker.Worker, see liveWorker.
type driver interface {
	Identity() worker.Identity
	Thread() string
	Status() worker.Status
	Recovered() []worker.Recovery
	subscribe() events
	Goal(context.Context) (*protocol.ThreadGoal, error)
	SetGoal(context.Context, worker.GoalSpec) (worker.Change, error)
	EditGoal(context.Context, worker.GoalSpec) (worker.Change, error)
	SetBudget(context.Context, protocol.Opt[int64]) (worker.Change, error)
	PauseGoal(context.Context, worker.PauseSpec) (worker.Change, error)
	ResumeGoal(context.Context, worker.GoalSpec) (worker.Change, error)
	ClearGoal(context.Context) (worker.Change, error)
	Prompt(context.Context, string) (*worker.Operation, error)
	Steer(context.Context, string) error
	Stop(context.Context) (worker.Outcome, error)
}

// New makes a controller of w, which it does not close. The owner is shown to
// those who ask whose worker it is.
//
// Command ids and their results are kept in the worker's journal, so that a
// caller that asks again gets the same result from a later owner too.
func New(w *worker.Worker, owner Owner) (*Controller, error) {
	return newController(liveWorker{w}, w, owner)
}

type liveWorker struct{ *worker.Worker }

func (w liveWorker) subscribe() events { return w.Subscribe() }

func newController(w driver, log Log, owner Owner) (*Controller, error) {
	ids, err := openLedger(log, w.Recovered())
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &Controller{
		w: w, ids: ids, name: rand.Text(), owner: owner, ctx: ctx, stop: stop, active: time.Now(),
		wake: make(chan struct{}, 1), ending: make(chan struct{}),
	}
	observed := c.feed()
	c.work.Go(func() { c.observe(observed) })
	c.work.Go(c.lane)
	return c, nil
}

// Do carries out one command. A refusal is a *Refusal. When ctx ends first only
// the wait ends: the command takes its course, and asking again with the same
// ID gives its result.
func (c *Controller) Do(ctx context.Context, cmd Command) (*Value, error) {
	if err := cmd.check(); err != nil {
		return nil, err
	}
	type outcome struct {
		value *Value
		err   error
	}
	wait := c.accept(cmd)
	done := make(chan outcome, 1)
	go func() {
		value, err := wait()
		done <- outcome{value, err}
	}()
	select {
	case out := <-done:
		if out.err != nil {
			return nil, refusalOf(out.err)
		}
		return out.value, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Serve speaks the wire over conn until either side ends; see the package
// comment. It closes conn.
func (c *Controller) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	c.mu.Lock()
	c.streams++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.streams--
	}()
	return serve(ctx, c, conn)
}

// Accept serves every connection of l until l is closed, and then waits for the
// streams to end: they do when the worker has, or with ctx. While the process or
// the machine lacks what a connection takes it waits and tries again. Any other
// error closes l and is returned.
func (c *Controller) Accept(ctx context.Context, l net.Listener) error {
	var streams sync.WaitGroup
	defer streams.Wait()
	var pause time.Duration
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil && passing(err):
			// As net/http does: what it lacks comes back when others give it back.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			select {
			case <-time.After(pause):
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		case err != nil:
			return errors.Join(fmt.Errorf("control: accept: %w", err), l.Close())
		}
		pause = 0
		streams.Go(func() {
			// A stream that breaks is its caller's trouble.
			_ = c.Serve(ctx, conn)
		})
	}
}

// passing reports whether an error of accept says nothing about the next one.
func passing(err error) bool {
	for _, short := range []error{unix.EMFILE, unix.ENFILE, unix.ECONNABORTED, unix.ENOBUFS, unix.ENOMEM, unix.EINTR} {
		if errors.Is(err, short) {
			return true
		}
	}
	return false
}

// Connect is a caller's stream to this controller, in process. It ends with the
// worker, and at the latest with the controller.
func (c *Controller) Connect() *Conn {
	mine, theirs := net.Pipe()
	c.work.Go(func() { _ = c.Serve(c.ctx, theirs) })
	return NewConn(mine)
}

// Retire refuses mutations from now on, unless one is being carried out or waits
// or an operation runs; then it changes nothing. It reports whether it did. An
// owner whose own work is done retires before it ends, so that nothing that was
// acknowledged to somebody else is cut short.
func (c *Controller) Retire() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy > 0 || len(c.queue) > 0 || c.w.Status().Operation != nil {
		return false
	}
	c.closed = true
	return true
}

// Quiet is how long no operation has run and nobody was connected; 0 while one does
// or is.
func (c *Controller) Quiet() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.streams > 0 || c.busy > 0 || len(c.queue) > 0 || c.w.Status().Operation != nil {
		return 0
	}
	return time.Since(c.active)
}

// Ending is closed when a stop has asked for the owner's end and its result is
// on the way.
func (c *Controller) Ending() <-chan struct{} { return c.ending }

// Close ends the commands in flight and waits for them. Close the worker first:
// then they have their outcomes, and streams their last events.
func (c *Controller) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.work.Wait()
}

func (c *Controller) run() string { return c.name }

func (c *Controller) feed() feed {
	return &liveFeed{from: c.w.subscribe(), t: translator{thread: c.w.Thread()}}
}

// list describes every command.
func (c *Controller) list(g *protocol.ThreadGoal, err error) []goal.Description {
	return []goal.Description{goal.Describe(g, err)}
}
