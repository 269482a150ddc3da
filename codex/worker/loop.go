package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// loop carries out what the core decides. One goroutine owns all of it.
type loop struct {
	*Worker
	wire  *codex.Subscription
	state lifecycle.State
	later []lifecycle.Event // outcomes that came about without the wire

	tickets lifecycle.Ticket
	waiting map[lifecycle.Ticket]chan<- answered
	frames  map[codex.CallID]written
	timers  map[lifecycle.Timer]time.Time
	looks   int // at a timer that is due, while the wire is not quiet
	intents int // intents journalled so far, over all owners

	configured configured
	own        Settings // the thread's own, as journalled
	inForce    Settings // as Codex last said; zero before the thread is loaded
	held       *held    // journalled for the operation under way; nil none

	ops    map[int]*Operation
	backs  []lifecycle.Effect // to be done once the app-server is gone
	answer Answer             // of the running turn, so far
	last   *TurnResult

	children children
	running  []Leftover // what goes on behind the operation that ended last
	broken   bool       // what ran last did not end by itself
}

// written is a frame on the wire and the intent it was journalled with.
type written struct {
	frame  lifecycle.Frame
	intent int // 0: not journalled
}

// inbound is what the pump took from the wire.
type inbound struct {
	event codex.Event
	err   error
}

func (l *loop) run() {
	defer l.finish()
	pumped := make(chan inbound, 64)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go pump(ctx, l.wire, pumped)

	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	idle := l.idleTimer()
	defer idle.Stop()
	for {
		alarm.Reset(l.nextAlarm())
		select {
		case r := <-l.requests:
			l.take(r)
		case in := <-pumped:
			if in.err != nil {
				l.lost(in.err)
				return
			}
			l.hear(in.event)
		case f := <-l.children.done:
			l.restAsked(f)
		case f := <-l.children.seen:
			l.restSeen(f)
		case <-alarm.C:
			l.alarm(pumped)
		case <-idle.C:
			if l.state.Op == nil && len(l.waiting) == 0 && !l.feed.watched() {
				l.err = ErrClosed
				return
			}
		case <-l.closing:
			l.err = ErrClosed
			return
		}
		for len(l.later) > 0 {
			e := l.later[0]
			l.later = l.later[1:]
			l.step(e)
		}
		if l.state.Op == nil && l.opts.IdleTimeout > 0 {
			idle.Reset(l.opts.IdleTimeout)
		}
	}
}

// pump moves events from the wire's queue to the loop, until the queue ends.
func pump(ctx context.Context, from *codex.Subscription, to chan<- inbound) {
	for {
		e, err := from.Next(ctx)
		select {
		case to <- inbound{e, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (l *loop) idleTimer() *time.Timer {
	t := time.NewTimer(max(l.opts.IdleTimeout, 0))
	if l.opts.IdleTimeout < 0 {
		t.Stop()
	}
	return t
}

func (l *loop) take(r request) {
	l.tickets++
	if r.answer != nil {
		l.waiting[l.tickets] = r.answer
	}
	l.step(r.event(l.tickets))
}

// hear takes what came over the wire.
func (l *loop) hear(e codex.Event) {
	switch {
	case e.Thread != "" && e.Thread != l.thread:
		l.hearChild(e)
	case e.Reply != nil:
		l.hearReply(e.Reply)
	case e.Notification != nil:
		l.note(e.Notification)
		l.feed.publish(Event{Notification: e.Notification, Method: e.Method, size: e.Size()})
		if event := eventOf(e.Notification); event != nil {
			l.step(event)
		}
	case e.Request != nil:
		l.feed.publish(Event{Request: e.Request, Method: e.Method, size: e.Size()})
	case e.Answer != nil:
		l.feed.publish(Event{Answer: e.Answer, Method: e.Method})
	case e.Lagged > 0:
		l.feed.publish(Event{Lagged: e.Lagged})
	}
}

func (l *loop) hearReply(r *codex.Reply) {
	w, ok := l.frames[r.Call]
	if !ok {
		return
	}
	if w.intent != 0 {
		l.journalOutcome(w.intent, r)
	}
	if loaded, ok := r.Result.(*protocol.ThreadResumeResponse); ok && w.frame.Role == lifecycle.RoleLoad && r.Err == nil {
		l.loadedWith(loaded)
	}
	reply := replyOf(r)
	switch {
	case w.frame.Role == lifecycle.RoleLoad && r.Err != nil:
		reply.Err = l.refusedLoad(r.Err)
	case w.frame.Role == lifecycle.RoleLook && l.state.Load == lifecycle.LoadNone:
		reply.Held = l.heldElsewhere()
	}
	l.step(lifecycle.Replied{Frame: w.frame, Reply: reply})
	delete(l.frames, r.Call)
}

// note remembers what outcomes report of a turn.
func (l *loop) note(n protocol.Notification) {
	switch n := n.(type) {
	case *protocol.ThreadSettingsUpdatedNotification:
		l.inForce = updatedSettings(n.ThreadSettings)
		l.publishStatus()
	case *protocol.TurnStartedNotification:
		l.answer = Answer{}
	case *protocol.ItemCompletedNotification:
		l.answer.Take(n.Item)
	case *protocol.TurnCompletedNotification:
		l.last = &TurnResult{ID: n.Turn.ID, Status: n.Turn.Status, Answer: l.answer.Text(), OnlyCommentary: l.answer.OnlyCommentary(), Error: n.Turn.Error}
		if op := l.ops[l.owner()]; op != nil {
			op.turnEnded(*l.last)
		}
	}
}

func (l *loop) owner() int {
	if l.state.Op == nil {
		return 0
	}
	return l.state.Op.ID
}

// step takes the core one event further and carries out what it asks for.
func (l *loop) step(e lifecycle.Event) {
	state, effects := lifecycle.Step(l.state, e)
	l.state = state
	for _, effect := range effects {
		if e, ok := effect.(lifecycle.Began); ok {
			l.children.ended, l.running, l.broken = nil, nil, false
			l.ops[e.Op] = newOperation(l.Worker, e)
		}
	}
	// Before anyone is told: who hears that an operation has ended must find the
	// thread free.
	l.publishStatus()
	for _, effect := range effects {
		l.hold(effect)
		l.carryOut(effect)
	}
	for id := range l.ops {
		if id != l.owner() {
			delete(l.ops, id)
		}
	}
}

func (l *loop) carryOut(effect lifecycle.Effect) {
	switch e := effect.(type) {
	case lifecycle.Write:
		l.write(e.Frame)
	case lifecycle.Answer:
		l.reply(e)
	case lifecycle.Began:
		l.feed.publish(Event{Operation: &OperationEvent{Operation: l.ops[e.Op], Step: Began}})
	case lifecycle.Became:
		op := l.ops[e.Op]
		op.become(KindGoal)
		l.feed.publish(Event{Operation: &OperationEvent{Operation: op, Step: Became}})
	case lifecycle.Ended:
		l.endOperation(e)
	case lifecycle.Elsewhere:
		l.feed.publish(Event{Elsewhere: &ElsewhereEvent{Goal: e.Goal}})
	case lifecycle.SetTimer:
		l.timers[e.Timer] = time.Now().Add(l.timeOf(e.Timer))
	case lifecycle.StopTimer:
		delete(l.timers, e.Timer)
	case lifecycle.Disconnect:
		l.opts.Logger.Warn("ending the app-server", "thread", l.thread, "error", e.Err)
		_ = l.client.Abort(e.Err) // the wire's end is heard by the loop like any other
	case lifecycle.EndRest:
		l.broken = true
		l.endRest()
	case lifecycle.LookBack, lifecycle.SetBack:
		l.backs = append(l.backs, e)
	}
}

// write journals a mutation and puts it on the wire.
func (l *loop) write(f lifecycle.Frame) {
	w := written{frame: f}
	if journalled(f.Role) {
		intent, err := l.journalIntent(f)
		if err != nil && f.Ticket != 0 {
			l.later = append(l.later, lifecycle.Replied{Frame: f, Reply: lifecycle.Reply{Delivery: lifecycle.NotSent, Err: err}})
			return
		}
		if err != nil {
			// A stop must work on a full disk, too.
			l.opts.Logger.Error("writing without a journalled intent", "method", methods[f.Role], "error", err)
		}
		w.intent = intent
	}
	l.frames[l.dispatch(f, l.messageID(w.intent))] = w
}

func (l *loop) reply(a lifecycle.Answer) {
	answer, ok := l.waiting[a.Ticket]
	if !ok {
		return
	}
	delete(l.waiting, a.Ticket)
	if a.Unknown {
		a.Err = l.unknown(a.Ticket, a.Err)
	}
	answer <- answered{Answer: a, op: l.ops[a.Op], ended: l.children.ended}
}

// unknown says of a submission that its frame was written and never answered.
func (l *loop) unknown(t lifecycle.Ticket, err error) error {
	d := &codex.DeliveryError{Delivery: codex.Unknown, Err: err}
	for _, w := range l.frames {
		if w.frame.Ticket == t && !w.frame.Role.Reads() {
			d.Method = methods[w.frame.Role]
		}
	}
	var same *codex.DeliveryError
	if errors.As(err, &same) && same.Method == d.Method {
		return err
	}
	return d
}

func (l *loop) endOperation(e lifecycle.Ended) {
	op := l.ops[e.Op]
	out := Outcome{End: e.Outcome.End, Goal: e.Outcome.Goal, GoalKnown: e.Outcome.GoalKnown, Err: e.Outcome.Err, Ended: l.children.ended}
	switch {
	case e.Outcome.End == EndDisconnected:
		l.broken = true
	case !l.broken && l.state.Load == lifecycle.Loaded:
		l.lookAtRest()
	}
	if e.Outcome.Turn != nil {
		out.Turn = l.last
	}
	if out.End == EndDisconnected {
		out.Err = fmt.Errorf("the connection to Codex was lost: %w", e.Outcome.Err)
	}
	op.end(out)
	l.feed.publish(Event{Operation: &OperationEvent{Operation: op, Step: Ended, Outcome: &out}})
}

func (l *loop) publishStatus() {
	s := l.state
	l.status.Store(&Status{
		Thread:    l.thread,
		Loaded:    s.Load == lifecycle.Loaded,
		Goal:      s.Goal,
		GoalKnown: s.GoalKnown,
		Turn:      s.Turn.ID,
		LastTurn:  l.last,
		Operation: l.ops[l.owner()],
		Pending:   s.Lane != nil && !s.Lane.Role.Reads() || len(s.Waiting) > 0,
		Stopping:  s.Stop != nil,
		Running:   l.running,
		Settings:  l.inForce,
		ending:    s.Gone,
		owner:     l.owner(),
	})
}

// lost notes why the worker ends without having been closed. What the core ended the
// app-server for is the cause, not the end of the wire that came of it.
func (l *loop) lost(err error) {
	l.broken = l.broken || l.state.Op != nil
	l.step(lifecycle.Disconnected{Err: err})
	l.err = fmt.Errorf("%w: %w", ErrDisconnected, l.state.Cause)
}

// finish gives everything back. Who still waits is told why first: the app-server is
// given its time to end by itself, because it sees to what it has started better than
// a kill of ours could.
func (l *loop) finish() {
	if !l.state.Gone {
		l.broken = l.broken || l.state.Op != nil
		l.step(lifecycle.Disconnected{Err: l.err, Closed: true})
	}
	_ = l.client.Close()
	l.endOrphans()
	l.lookBack()
	l.journalEnd()
	l.owned.release()
	l.feed.end()
	close(l.done)
	l.ended()
}
