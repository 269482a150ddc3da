package control

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
	"github.com/codexctl/codexctl/goal"
)

// readTimeout bounds what a status waits for Codex: a goal that cannot be read
// by then is unavailable.
const readTimeout = 5 * time.Second

// job is a mutation in line, and the operation that owned the thread when it came.
type job struct {
	cmd   Command
	bound *worker.Operation
	entry *entry
}

// accept takes a command in. Mutations of the goal and prompts go through one
// lane, in the order they came, from whichever stream; a stop and a steer go
// past it, and reads are done where they are waited for.
func (c *Controller) accept(cmd Command) (wait func() (*Value, error)) {
	if err := cmd.check(); err != nil {
		return func() (*Value, error) { return nil, err }
	}
	if !specs[cmd.Name].mutates {
		return func() (*Value, error) { return c.read(cmd) }
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, known, err := c.ids.enter(cmd)
	switch {
	case err != nil:
		return func() (*Value, error) { return nil, err }
	case known:
		return entry.wait
	case c.closed, c.leave && cmd.Name != Stop:
		c.ids.drop(entry, nil, errRetired())
		return entry.wait
	}
	j := &job{cmd: cmd, bound: c.w.Status().Operation, entry: entry}
	switch cmd.Name {
	case Stop:
		// What waits in line was asked for before the stop and is not to begin
		// after it.
		for _, waiting := range c.queue {
			c.ids.drop(waiting.entry, nil, worker.ErrStopped)
		}
		c.queue = nil
		c.leave = c.leave || cmd.Owner
		c.busy++
		c.work.Go(func() { c.carryOut(j) })
	case Steer:
		c.busy++
		c.work.Go(func() { c.carryOut(j) })
	default:
		c.queue = append(c.queue, j)
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
	return entry.wait
}

// lane carries out queued mutations one after the other.
func (c *Controller) lane() {
	for {
		c.mu.Lock()
		var next *job
		if len(c.queue) > 0 {
			next, c.queue = c.queue[0], c.queue[1:]
			c.busy++
		}
		c.mu.Unlock()
		if next != nil {
			c.carryOut(next)
			continue
		}
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			c.mu.Lock()
			for _, j := range c.queue {
				c.ids.drop(j.entry, nil, worker.ErrClosed)
			}
			c.queue = nil
			c.mu.Unlock()
			return
		}
	}
}

func errRetired() *Refusal {
	return &Refusal{Code: OwnerFinished, Reason: "the owner's work is done and it is ending; ask again and there will be a new one"}
}

// carryOut performs a mutation and keeps its result.
func (c *Controller) carryOut(j *job) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.busy--
	}()
	// A stop works with a full disk too: doing it again does no harm.
	if j.cmd.Name != Stop {
		if err := c.ids.begin(j.entry); err != nil {
			c.ids.drop(j.entry, nil, &Refusal{Code: NotSent, Reason: "not sent, because it could not be noted first: " + err.Error()})
			return
		}
	}
	value, err := c.perform(c.ctx, j)
	c.ids.finish(j.entry, value, err)
	if j.cmd.Name == Stop && j.cmd.Owner {
		c.end()
	}
}

func (c *Controller) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ending:
	default:
		close(c.ending)
	}
}

func (c *Controller) perform(ctx context.Context, j *job) (*Value, error) {
	cmd := j.cmd
	spec := worker.GoalSpec{Objective: cmd.Text, Budget: cmd.Budget, For: j.bound}
	switch cmd.Name {
	case GoalSet:
		return changed(c.w.SetGoal(ctx, spec))
	case GoalEdit:
		if cmd.Text == "" {
			return changed(c.w.SetBudget(ctx, cmd.Budget))
		}
		return changed(c.w.EditGoal(ctx, spec))
	case GoalPause:
		return changed(c.w.PauseGoal(ctx, worker.PauseSpec{Force: cmd.Force}))
	case GoalResume:
		return changed(c.w.ResumeGoal(ctx, spec))
	case GoalClear:
		return changed(c.w.ClearGoal(ctx))
	case Prompt:
		op, err := c.w.Prompt(ctx, cmd.Text)
		if err != nil {
			return nil, err
		}
		return &Value{Operation: op.ID()}, nil
	case Steer:
		return &Value{}, c.w.Steer(ctx, cmd.Text)
	case Stop:
		out, err := c.w.Stop(ctx)
		if errors.Is(err, worker.ErrClosed) {
			return &Value{}, nil // nothing runs any more, which is what was asked for
		}
		return &Value{End: string(out.End), Goal: GoalOf(out.Goal), Note: endedNote(out.Ended)}, err
	}
	return nil, malformed("there is no command %q", cmd.Name)
}

// endedNote says what a stop has ended beside the turn.
func endedNote(ended []worker.Leftover) string {
	if len(ended) == 0 {
		return ""
	}
	names := make([]string, len(ended))
	for i, o := range ended {
		names[i] = o.String()
	}
	return "ended with it: " + strings.Join(names, "; ")
}

func changed(change worker.Change, err error) (*Value, error) {
	if err != nil {
		return nil, err
	}
	v := &Value{Goal: GoalOf(change.Goal), Note: string(change.Note)}
	if change.Operation != nil {
		v.Operation = change.Operation.ID()
	}
	return v, nil
}

func (c *Controller) read(cmd Command) (*Value, error) {
	ctx, cancel := context.WithTimeout(c.ctx, readTimeout)
	defer cancel()
	switch cmd.Name {
	case GoalShow:
		g, err := c.w.Goal(ctx)
		if err != nil {
			return nil, err
		}
		return &Value{Goal: GoalOf(g)}, nil
	case CommandsList:
		return &Value{Commands: c.list(c.w.Goal(ctx))}, nil
	case Status:
		return &Value{Status: c.snapshot(ctx)}, nil
	}
	return nil, malformed("there is no command %q", cmd.Name)
}

// snapshot is the state now. While an operation runs the goal is the one last
// announced; otherwise it is read, because another process may have changed it
// without a word.
func (c *Controller) snapshot(ctx context.Context) *Snapshot {
	status := c.w.Status()
	g, err := status.Goal, error(nil)
	if status.Operation == nil || !status.GoalKnown {
		g, err = c.w.Goal(ctx)
	}
	state := goal.StateOf(g, err)
	key := c.w.Identity().Key
	s := &Snapshot{
		Owner: &c.owner, Project: key.Project, Session: key.Session, Directory: key.Dir, Thread: c.w.Thread(),
		State: state, Label: state.Label(), Colour: state.Colour(),
		Operation: operationOf(status.Operation), Turn: status.Turn,
		Actions: []string{}, Warnings: []string{},
	}
	for _, a := range state.Actions() {
		s.Actions = append(s.Actions, string(a))
	}
	if err != nil {
		s.Why = "the goal could not be read: " + err.Error()
	} else {
		s.Goal = GoalOf(g)
		var failed *protocol.TurnError
		if status.LastTurn != nil {
			failed = status.LastTurn.Error
		}
		s.Why = goal.Why(g, failed)
	}
	for _, r := range c.w.Recovered() {
		s.Warnings = append(s.Warnings, r.String())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Now = c.seen.now
	if len(c.seen.waiting) > 0 {
		s.Now = "waiting for leave to " + c.seen.waiting[len(c.seen.waiting)-1].Asked
	}
	return s
}

// observation is what the controller saw last, for a status.
type observation struct {
	item    string // the item that is being worked on
	now     string
	waiting []*ApprovalAsked // asked and not answered: each has its answer, at the latest with its turn's end
}

// observe keeps the observation until the worker has ended.
func (c *Controller) observe(f feed) {
	defer f.Close()
	for {
		p, err := f.Next(c.ctx)
		if err != nil {
			return
		}
		c.mu.Lock()
		c.active = time.Now()
		c.seen.take(p)
		c.mu.Unlock()
	}
}

func (o *observation) take(p Payload) {
	switch p := p.(type) {
	case *TurnStarted:
		o.item, o.now = "", "working"
	case *TurnEnded:
		o.item, o.now = "", ""
	case *ItemStarted:
		o.item, o.now = p.Item, Doing(p.ItemEvent)
	case *ItemCompleted:
		if o.item == p.Item {
			o.item, o.now = "", "working"
		}
	case *ApprovalAsked:
		o.waiting = append(o.waiting, p)
	case *ApprovalAnswered:
		o.waiting = slices.DeleteFunc(o.waiting, func(a *ApprovalAsked) bool { return a.Request == p.Request })
	}
}

// Doing says what working on an item is, for people.
func Doing(i ItemEvent) string {
	switch i.Type {
	case "commandExecution":
		return "running " + i.Summary
	case "agentMessage":
		return "writing"
	default:
		return i.Summary
	}
}
