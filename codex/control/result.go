package control

import (
	"fmt"

	"github.com/codexctl/codexctl/goal"
)

// Code tells refusals apart.
type Code string

const (
	Malformed       Code = "MALFORMED"        // the line is not a command that could be carried out
	Busy            Code = "BUSY"             // another operation owns the thread
	ThreadHeld      Code = "THREAD_HELD"      // another client of Codex has the thread; nothing was sent
	OwnerFinished   Code = "OWNER_FINISHED"   // the operation it was meant for ended first; nothing was sent
	TooLate         Code = "TOO_LATE"         // there is nothing left to steer, pause or resume
	TooOld          Code = "TOO_OLD"          // its id is older than the results that are kept; it was not carried out now
	Stopped         Code = "STOPPED"          // a stop came first; nothing was sent
	NotSent         Code = "NOT_SENT"         // it never left this side
	Rejected        Code = "REJECTED"         // Codex refused it
	DeliveryUnknown Code = "DELIVERY_UNKNOWN" // it was written and no answer came; it is never sent again
	Disconnected    Code = "DISCONNECTED"     // the app-server is gone
	Failed          Code = "FAILED"           // anything else
)

// Refusal is the result of a command that was not carried out. It is an error.
type Refusal struct {
	Code   Code   `json:"code"`
	Reason string `json:"reason"`
}

func (r *Refusal) Error() string { return r.Reason }

func malformed(format string, args ...any) *Refusal {
	return &Refusal{Code: Malformed, Reason: fmt.Sprintf(format, args...)}
}

// Value is what a command that was carried out gives back. Which fields are set
// depends on the command; an absent one has nothing to say.
type Value struct {
	Operation string             `json:"operation,omitzero"` // the operation that the command drives or joined
	Goal      *Goal              `json:"goal,omitzero"`      // the goal as Codex acknowledged it; goal.show: null is no goal
	Note      string             `json:"note,omitzero"`      // what to know beside the acknowledgement
	End       string             `json:"end,omitzero"`       // stop: how the operation ended
	Status    *Snapshot          `json:"status,omitzero"`    // status
	Commands  []goal.Description `json:"commands,omitzero"`  // commands.list
}
