package lifecycle

import (
	"github.com/codexctl/codexctl/codex/protocol"
)

// Event is one thing that happened, in wire order.
type Event interface{ event() }

// Submit asks for a change of the goal. Owner is the ID of the operation the
// caller saw owning the thread, 0 when it saw none.
type Submit struct {
	Ticket Ticket
	Change Change
	Owner  int
}

// Prompt asks for one user turn on an idle thread.
type Prompt struct {
	Ticket Ticket
	Text   string
}

// Steer adds text to the running turn.
type Steer struct {
	Ticket Ticket
	Text   string
}

// StopAsked asks that nothing runs any more. Final refuses all submissions from
// here on.
type StopAsked struct {
	Ticket Ticket
	Final  bool
}

// Replied is the one outcome of a frame.
type Replied struct {
	Frame Frame
	Reply Reply
}

// GoalUpdated is thread/goal/updated.
type GoalUpdated struct{ Goal *protocol.ThreadGoal }

// GoalCleared is thread/goal/cleared.
type GoalCleared struct{}

// TurnStarted is turn/started.
type TurnStarted struct{ ID string }

// TurnCompleted is turn/completed.
type TurnCompleted struct {
	ID     string
	Status protocol.TurnStatus
	Error  *protocol.TurnError
}

// RestEnded is the outcome of an [EndRest].
type RestEnded struct{}

// LookedBack is the outcome of a [LookBack] or a [SetBack]: the goal as it is
// stored, or why that could not be read or set.
type LookedBack struct {
	Goal *protocol.ThreadGoal
	Err  error
}

// TimerFired is the end of a time asked for with [SetTimer].
type TimerFired struct{ Timer Timer }

// Disconnected is the end of the connection. Replies to frames that were still
// pending may come before it or not at all. Closed is an end of our own making: who
// waits for a stop then is told so, and nothing is read back.
type Disconnected struct {
	Err    error
	Closed bool
}

func (Submit) event()        {}
func (Prompt) event()        {}
func (Steer) event()         {}
func (StopAsked) event()     {}
func (Replied) event()       {}
func (GoalUpdated) event()   {}
func (GoalCleared) event()   {}
func (TurnStarted) event()   {}
func (TurnCompleted) event() {}
func (TimerFired) event()    {}
func (Disconnected) event()  {}
func (LookedBack) event()    {}
func (RestEnded) event()     {}

// Reply is what became of a frame.
type Reply struct {
	Delivery Delivery
	Goal     *protocol.ThreadGoal // set, get: the goal in the result; nil is no goal
	TurnID   string               // turn/start: the turn that took the text
	Drift    bool                 // acknowledged, but the result could not be decoded
	Held     error                // look: another process has the thread, and which; nil when none has
	Err      error                // why, unless acknowledged
}

// Delivery is what is known of a frame after its outcome.
type Delivery int

const (
	NotSent      Delivery = iota // no byte was written
	Acknowledged                 // a result came
	Rejected                     // an error came
	Unknown                      // written, and no answer will come
)
