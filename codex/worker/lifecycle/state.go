package lifecycle

import "github.com/codexctl/codexctl/codex/protocol"

// Ticket names one submission: whoever drives the core chooses it, and the core
// answers it exactly once. Zero is nobody's.
type Ticket int

// State is everything the core remembers of one thread. The zero State is a
// thread that is stored only and whose goal has not been read.
//
// A State is a value: Step never changes the one it was given. The protocol
// values it points to are shared and must not be changed by anyone.
type State struct {
	Goal      *protocol.ThreadGoal // the goal as last known; nil is no goal, if GoalKnown
	GoalKnown bool                 // false until a goal was read, announced or acknowledged
	Acked     string               // objective of the last acknowledged change in this operation; "" none

	Turn    Turn
	Op      *Operation // the owner of the thread; nil when idle
	Lane    *Call      // the goal call on the wire; nil when the lane is free
	Waiting []Submission
	Load    Load
	Start   Ticket   // the prompt whose turn/start is on the wire; 0 none
	Steers  []Ticket // turn/steer calls on the wire
	Stop    *Stop    // the stop under way; nil when none
	Stall   Stall

	Closing bool  // no submission is taken any more
	Gone    bool  // the connection is over: nothing may be written
	Cause   error // why; nil while it lives
	Started int   // operations begun so far; the next one's ID is one more
}

// Load is whether turns can run on the thread. Its goal can be read and changed
// in any case.
type Load int

const (
	LoadNone Load = iota // the thread is stored only
	LoadOnWire
	Loaded
)

// Turn is what is known of the thread's active turn.
type Turn struct {
	ID    string // "" when no turn is active, or one is asked for whose id could not be read
	Phase TurnPhase
}

// TurnPhase tells how far a turn has come.
type TurnPhase int

const (
	TurnNone     TurnPhase = iota // no turn is active
	TurnStarting                  // turn/start was acknowledged, turn/started has not come
	TurnRunning                   // turn/started came
)

// Kind is what an operation is for.
type Kind int

const (
	KindGoal   Kind = iota + 1 // pursues the thread's goal over any number of turns
	KindPrompt                 // one user turn
)

func (k Kind) String() string {
	switch k {
	case KindGoal:
		return "goal"
	case KindPrompt:
		return "prompt"
	default:
		return "unknown"
	}
}

// Operation is the exclusive owner of the thread until it ends.
type Operation struct {
	ID      int
	Kind    Kind
	Adopted bool      // Codex started its first turn by itself
	Fresh   bool      // nothing was acknowledged for it yet, and no turn has started
	Last    *LastTurn // the turn that ended last; nil before the first end
	Stalled bool      // its goal was found active without a turn
	Err     error     // why its start, or the loading of its thread, failed; nil else
}

// LastTurn is how a turn ended.
type LastTurn struct {
	ID     string
	Status protocol.TurnStatus
	Error  *protocol.TurnError // nil unless Status is failed
}

// Stall is how far the search for an active goal's missing turn has come.
type Stall int

const (
	StallNone    Stall = iota
	StallWaiting       // the timer runs
	StallReading       // thread/goal/get is on the wire
	StallPausing       // the pause is on the wire
)

// ChangeKind is one of the ways to change a goal.
type ChangeKind int

const (
	ChangeSet    ChangeKind = iota + 1 // a new objective, active: starts or replaces
	ChangeEdit                         // a new objective; the status stays as it is
	ChangeResume                       // active again
	ChangePause                        // paused; the running turn goes on to its end
	ChangeClear                        // no goal
	ChangeBudget                       // a new total of tokens; the status stays as it is
)

// Change is one change of the goal as a caller asks for it.
type Change struct {
	Kind      ChangeKind
	Objective string              // trimmed; for set and edit not blank, for resume "" keeps
	Budget    protocol.Opt[int64] // tokens for the goal in all; absent keeps, null removes
	Force     bool                // pause: also a goal whose thread another process has
}

// owns reports whether the change drives the operation that owns the thread, or
// begins one. The others are control calls, good with and without an owner.
func (c Change) owns() bool {
	return c.Kind == ChangeSet || c.Kind == ChangeResume
}

// bound reports whether the change is meant for the operation that owned the
// thread when it was submitted, and for no later one.
func (c Change) bound() bool { return c.owns() || c.Kind == ChangeEdit }

// Submission is a change, or a prompt, that waits for the lane.
type Submission struct {
	Ticket Ticket
	Change Change // zero for a prompt
	Text   string // of a prompt
	Owner  int    // ID of the operation it is bound to; 0 is none
}

func (s Submission) prompts() bool { return s.Change.Kind == 0 }

// begins reports whether the submission begins an operation where there is none.
func (s Submission) begins() bool { return s.prompts() || s.Change.owns() }

// Call is the goal call on the wire and the submission it belongs to.
type Call struct {
	Submission
	Role        Role
	Reset       bool  // the complete goal before it was cleared for it
	Parked      bool  // the active goal before it was paused for it
	Refused     error // unpark: why the thread was not loaded
	Held        bool  // another process has the thread
	LookAgain   bool  // load: a notification contradicted what was read before
	Abandoned   bool  // a stop came: no further step of this submission is written
	SawComplete bool  // a pause: the goal was announced complete before the reply
}

// Stop is a stop under way.
type Stop struct {
	Tickets     []Ticket
	Step        StopStep // what it waits for
	OnWire      Role     // its goal call on the wire; 0 none
	Paused      bool     // it wrote a pause
	SawComplete bool     // the goal was announced complete after the pause was written
	Look        bool     // what the pause did must be read back
	Interrupted string   // id of the turn an interrupt was written for; "" none
	MayFollow   bool     // a turn may still start: the goal was or became active
	GraceOver   bool     // the time in which it may is over
	Rest        Rest     // what the turns have left behind
	SetBack     bool     // the connection is over, and the stored goal's status was set
}

// StopStep is what a stop waits for.
type StopStep int

const (
	StopBegun      StopStep = iota
	StopOnPending           // the change that was on the wire before it
	StopOnGoal              // its own goal call
	StopOnStart             // turn/started of a turn that was asked for
	StopOnTurn              // turn/completed of the turn it interrupted
	StopOnFollower          // a turn that was about to start
	StopOnRest              // the end of what the turns have left behind
)

// Rest is how far the end has come of what turns leave behind: turns of sub-agents,
// and commands that went on in the background.
type Rest int

const (
	RestDue    Rest = iota // to be ended when no turn runs any more
	RestEnding             // being ended
	RestStale              // being ended, but a turn has started meanwhile
	RestDone
)
