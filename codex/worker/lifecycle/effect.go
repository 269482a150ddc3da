package lifecycle

import "github.com/codexctl/codexctl/codex/protocol"

// Effect is one thing the driver must do, in the order given.
type Effect interface{ effect() }

// Write puts a frame on the wire, behind all frames before it.
type Write struct{ Frame Frame }

// Frame is one call to Codex. It is comparable but for its change; Role and
// Ticket, or Role and Turn, tell two frames that are on the wire apart.
type Frame struct {
	Role   Role
	Ticket Ticket
	Change Change // RoleSet
	Turn   string // RoleInterrupt, RoleSteer: the turn meant
	Text   string // RoleStart, RoleSteer
}

// Role is what a frame is for; each has one method.
type Role int

const (
	RoleSet       Role = iota + 1 // thread/goal/set with a caller's change
	RoleClear                     // thread/goal/clear for a caller
	RoleReset                     // thread/goal/clear before the set that begins a new goal
	RoleLook                      // thread/goal/get before anything on an idle thread
	RolePark                      // thread/goal/set paused, so that loading the thread does not start the old objective
	RoleUnpark                    // thread/goal/set active, where the thread could not be loaded then
	RoleDecide                    // thread/goal/get because a notification contradicts what is known
	RoleConfirm                   // thread/goal/get because a result could not be decoded
	RoleUndo                      // thread/goal/set complete, where a caller's pause came too late
	RoleStallLook                 // thread/goal/get because an active goal runs no turn
	RoleStallStop                 // thread/goal/set paused, for the same reason
	RoleStopPause                 // thread/goal/set paused, for a stop
	RoleStopLook                  // thread/goal/get, for a stop that saw the goal complete
	RoleRestore                   // thread/goal/set complete, where a stop's pause came too late
	RoleInterrupt                 // turn/interrupt
	RoleLoad                      // thread/resume
	RoleStart                     // turn/start
	RoleSteer                     // turn/steer
)

// Reads reports whether the frame only reads.
func (r Role) Reads() bool {
	switch r {
	case RoleLook, RoleDecide, RoleConfirm, RoleStallLook, RoleStopLook:
		return true
	}
	return false
}

// decides reports whether what the thread does from here on hangs on the frame, so
// that nothing can go on when its delivery is unknown.
func (r Role) decides() bool {
	return !r.Reads() && r != RoleInterrupt && r != RoleSteer
}

// Began tells that an operation owns the thread from now on.
type Began struct {
	Op      int
	Kind    Kind
	Adopted bool
}

// Became tells that a prompt's operation pursues a goal from now on.
type Became struct{ Op int }

// Ended tells that an operation has ended and owns nothing any more.
type Ended struct {
	Op      int
	Outcome Outcome
}

// Answer is the one outcome of a submission. Err is nil when Codex acknowledged
// it (for a stop: when nothing runs any more).
type Answer struct {
	Ticket    Ticket
	Op        int // the operation it drives; 0 is none
	Goal      *protocol.ThreadGoal
	GoalKnown bool // of a stop: as in [Outcome]
	Note      Note
	Outcome   *Outcome // a stop's: how the operation ended; nil when none ran
	Err       error
	Unknown   bool // it was written, and the connection ended before its answer
}

// Note says what a caller should know beside the acknowledgement.
type Note int

const (
	NoteNone       Note = iota
	NoteNotStarted      // acknowledged, but the goal is not active: no work started
	NoteUnreadable      // acknowledged, but what came of it could not be read
	NoteCompleted       // the pause came after the goal was complete; it was set complete again
	NoteHeld            // paused while another process has the thread: its turn goes on to its end
)

// Elsewhere tells that the goal was changed by someone else while an operation
// pursued another objective.
type Elsewhere struct{ Goal *protocol.ThreadGoal }

// SetTimer asks for a [TimerFired] after the timer's time, counted anew if the
// timer runs already. StopTimer takes it back.
type SetTimer struct{ Timer Timer }

// StopTimer takes a timer back.
type StopTimer struct{ Timer Timer }

// Timer names a time the driver keeps.
type Timer int

const (
	TimerStall  Timer = iota + 1 // how long an active goal may run no turn
	TimerAnswer                  // how long Codex may take to answer a goal call of a stop
	TimerTurn                    // how long a turn may take to start or end once a stop wants it to
	TimerGrace                   // how long a turn that was about to start may still show up
)

// Disconnect ends the app-server at once: a delivery is unknown, or a stop took too
// long.
type Disconnect struct{ Err error }

// EndRest ends what the thread's turns have left behind: the turns of sub-agents, and
// commands that went on in the background. [RestEnded] follows when that is done.
type EndRest struct{}

// LookBack asks for the goal as it is stored, once the app-server is gone: of a
// fresh one, which needs no loaded thread for it. [LookedBack] is its outcome.
type LookBack struct{}

// SetBack sets the stored goal's status in the same way.
type SetBack struct{ Status protocol.ThreadGoalStatus }

func (Write) effect()      {}
func (Began) effect()      {}
func (Became) effect()     {}
func (Ended) effect()      {}
func (Answer) effect()     {}
func (Elsewhere) effect()  {}
func (SetTimer) effect()   {}
func (StopTimer) effect()  {}
func (Disconnect) effect() {}
func (EndRest) effect()    {}
func (LookBack) effect()   {}
func (SetBack) effect()    {}
