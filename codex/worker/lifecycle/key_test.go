package lifecycle

import (
	"slices"
	"strconv"

	"github.com/codexctl/codexctl/codex/protocol"
)

// key names a world. Two worlds with the same key have the same future: names of
// turns, objectives and tickets count only by which of them are equal, and how an
// earlier turn ended only by whether it was interrupted.
func (w *world) key() string {
	k := keyer{}
	s := &w.state
	k.goal(s.Goal)
	k.flags(s.GoalKnown, s.Closing, w.heard, w.unsure, w.asked, w.ended, w.loaded, w.stopping, w.stopPaused, w.sawComplete, w.restored)
	k.flags(w.resting, w.rested, w.restStale, w.stoppedOp, w.gone, w.lookBack, w.setBack != "", w.wasSet, w.stopLost, w.unfinished)
	k.name(s.Acked)
	k.name(s.Turn.ID)
	k.number(int(s.Turn.Phase), int(s.Stall), int(s.Load))
	k.name(w.turn)
	k.ticket(s.Start)
	k.goal(w.goal)
	if w.heard {
		k.goal(w.announced)
	}
	k.operation(s.Op)
	if s.Lane != nil {
		k.submission(s.Lane.Submission, s.Op)
		k.number(int(s.Lane.Role))
		k.flags(s.Lane.Abandoned, s.Lane.SawComplete, s.Lane.Reset, s.Lane.Parked, s.Lane.Held, s.Lane.LookAgain)
	}
	for _, x := range s.Waiting {
		k.mark('w')
		k.submission(x, s.Op)
	}
	if stop := s.Stop; stop != nil {
		k.mark('!')
		k.number(int(stop.Step), int(stop.OnWire), len(stop.Tickets), int(stop.Rest))
		k.flags(stop.Paused, stop.SawComplete, stop.Look, stop.MayFollow, stop.GraceOver, stop.SetBack)
		k.name(stop.Interrupted)
	}
	for _, f := range w.wire {
		k.mark('>')
		k.number(int(f.Role), int(f.Change.Kind))
		k.ticket(f.Ticket)
		k.name(f.Change.Objective)
		k.name(f.Turn)
	}
	for _, t := range w.open {
		k.mark('?')
		k.ticket(t.n)
		k.number(int(t.kind), int(t.outcome))
		k.flags(t.stop, t.final, t.prompt, t.busy, t.sent, t.pending, t.started, t.read, t.held, t.parked, t.change.Force, t.owner != 0, t.owner == w.owner)
	}
	for _, t := range w.timers {
		k.number(int(t))
	}
	k.flags(w.owner != 0, w.lastOwner > w.owner)
	k.number(w.left)
	return string(k.b)
}

type keyer struct {
	b       []byte
	names   []string
	tickets []Ticket
}

func (k *keyer) mark(c byte) { k.b = append(k.b, c) }

func (k *keyer) number(ns ...int) {
	for _, n := range ns {
		k.b = append(strconv.AppendInt(k.b, int64(n), 36), ',')
	}
}

func (k *keyer) flags(fs ...bool) {
	for _, f := range fs {
		if f {
			k.mark('1')
		} else {
			k.mark('0')
		}
	}
}

// name writes which of the names seen so far this one is.
func (k *keyer) name(s string) {
	if s == "" {
		k.mark('-')
		return
	}
	i := slices.Index(k.names, s)
	if i < 0 {
		i = len(k.names)
		k.names = append(k.names, s)
	}
	k.number(i)
}

func (k *keyer) ticket(t Ticket) {
	if t == 0 {
		k.mark('-')
		return
	}
	i := slices.Index(k.tickets, t)
	if i < 0 {
		i = len(k.tickets)
		k.tickets = append(k.tickets, t)
	}
	k.number(i)
}

func (k *keyer) goal(g *protocol.ThreadGoal) {
	if g == nil {
		k.mark('-')
		return
	}
	k.name(g.Objective)
	k.b = append(k.b, g.Status...)
}

func (k *keyer) operation(op *Operation) {
	if op == nil {
		k.mark('-')
		return
	}
	k.number(int(op.Kind))
	k.flags(op.Fresh, op.Stalled)
	if op.Last != nil {
		k.name(op.Last.ID)
		k.flags(op.Last.Status == protocol.TurnStatusInterrupted)
	}
}

func (k *keyer) submission(s Submission, op *Operation) {
	k.ticket(s.Ticket)
	k.number(int(s.Change.Kind))
	k.name(s.Change.Objective)
	k.flags(s.Owner != 0, op != nil && s.Owner == op.ID)
}
