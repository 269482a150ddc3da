package worker

import (
	"cmp"
	"fmt"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/journal"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// Kinds of journal records a worker writes.
const (
	recordOwner     = "owner"     // ownerRecord: a process took the identity
	recordThread    = "thread"    // threadRecord: the native thread from here on
	recordChild     = "child"     // threadRecord: the thread has a sub-agent
	recordServer    = "server"    // serverRecord: an app-server was started
	recordServerEnd = "serverEnd" // the last one is known to be gone
	recordIntent    = "intent"    // Intent: a mutation is about to be written
	recordOutcome   = "outcome"   // outcomeRecord: what became of it
	recordRecovered = "recovered" // recoveredRecord: what a later owner found out
	recordSettings  = "settings"  // settingsRecord: the native thread's own from here on
	recordPast      = "past"      // pastRecord: what all records before it add up to
)

type ownerRecord struct {
	Identity Identity        `json:"identity"`
	Process  codex.ProcessID `json:"process"`
}

type threadRecord struct {
	Thread string `json:"thread"`
}

type serverRecord struct {
	Process codex.ProcessID `json:"process"`
}

// Intent is a mutation as it was about to be written.
type Intent struct {
	ID     int    `json:"id"` // counts the intents of an identity from 1
	Thread string `json:"thread"`
	Method string `json:"method"`
	// Own is set on what the worker does for itself, such as the pause of a stop.
	Own bool `json:"own,omitempty"`
	// Then is the objective that a thread/goal/clear, or the pause of a stored goal,
	// makes room for: the two are one intent.
	Then string `json:"then,omitempty"`
	// What thread/goal/set asks for; "" is not given.
	Objective string                    `json:"objective,omitempty"`
	Status    protocol.ThreadGoalStatus `json:"status,omitempty"`
	Budget    protocol.Opt[int64]       `json:"budget,omitzero"`
	// Text and Message are what turn/start and turn/steer say, and the client's own
	// id for it, by which it is found again.
	Text    string `json:"text,omitempty"`
	Message string `json:"message,omitempty"`
	// At is when the intent was written, in Unix milliseconds; 0 is not known.
	At int64 `json:"at,omitempty"`
	// Before is the goal as it was known then.
	Before      *protocol.ThreadGoal `json:"before,omitempty"`
	BeforeKnown bool                 `json:"beforeKnown"`
}

type outcomeRecord struct {
	Intent   int                  `json:"intent"`
	Delivery string               `json:"delivery"`
	Error    string               `json:"error,omitempty"`
	Goal     *protocol.ThreadGoal `json:"goal,omitempty"`
}

type recoveredRecord struct {
	Intent  int                  `json:"intent"`
	Verdict Verdict              `json:"verdict"`
	Goal    *protocol.ThreadGoal `json:"goal,omitempty"`
}

func appendRecord(log *journal.Log, kind string, v any) error {
	r, err := journal.New(kind, v)
	if err != nil {
		return err
	}
	return log.Append(r)
}

// journalled reports whether a frame changes something that reading back can
// tell.
func journalled(r lifecycle.Role) bool {
	return !r.Reads() && r != lifecycle.RoleInterrupt && r != lifecycle.RoleLoad
}

// journalIntent puts a mutation on disk before it is written.
func (l *loop) journalIntent(f lifecycle.Frame) (int, error) {
	in := Intent{
		ID: l.intents + 1, Thread: l.thread, Method: methods[f.Role], Own: f.Ticket == 0 || f.Role == lifecycle.RoleUnpark,
		At:     time.Now().UnixMilli(),
		Before: l.state.Goal, BeforeKnown: l.state.GoalKnown,
	}
	switch f.Role {
	case lifecycle.RoleClear:
	case lifecycle.RoleReset:
		in.Then = f.Change.Objective
	case lifecycle.RoleStart, lifecycle.RoleSteer:
		in.Text, in.Message = f.Text, l.messageID(in.ID)
	default:
		p := l.setParams(f)
		in.Objective = p.Objective.Or("")
		in.Status = p.Status.Or("")
		in.Budget = p.TokenBudget
		if f.Role == lifecycle.RolePark {
			in.Then = cmp.Or(f.Change.Objective, l.state.Goal.Objective)
		}
	}
	if err := appendRecord(l.log, recordIntent, in); err != nil {
		return 0, fmt.Errorf("%s was not written, because its intent could not be journalled: %w", in.Method, err)
	}
	l.intents = in.ID
	return in.ID, nil
}

func (l *loop) journalOutcome(intent int, r *codex.Reply) {
	out := outcomeRecord{Intent: intent, Delivery: r.Delivery.String(), Goal: replyOf(r).Goal}
	if r.Err != nil {
		out.Error = r.Err.Error()
	}
	if r.Delivery == codex.Unknown {
		return // it stays open: the next owner finds out
	}
	if err := appendRecord(l.log, recordOutcome, out); err != nil {
		l.opts.Logger.Error("outcome not journalled; the next owner will read it back", "method", r.Method, "error", err)
	}
}

func (l *loop) journalEnd() {
	if err := appendRecord(l.log, recordServerEnd, nil); err != nil {
		l.opts.Logger.Error("end of the app-server not journalled", "error", err)
	}
}

// messageID is the client's own id of a user message.
func (l *loop) messageID(intent int) string {
	return fmt.Sprintf("%s-%d", l.identity.Hash(), intent)
}
