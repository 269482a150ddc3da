package goal

import (
	"fmt"
	"strconv"
	"time"

	"github.com/codexctl/codexctl/codex/protocol"
)

// State is where a goal stands, for people: Codex's status words, and two more.
type State string

const (
	Active        State = "active"
	Paused        State = "paused"
	Blocked       State = "blocked"
	UsageLimited  State = "usageLimited"
	BudgetLimited State = "budgetLimited"
	Complete      State = "complete"

	None        State = "none"        // the thread has no goal
	Unavailable State = "unavailable" // it could not be read: not the same as none
)

// StateOf derives the state from what reading the goal gave: nil and no error
// is None, any error is Unavailable. A status that a newer Codex adds is kept
// as it is.
func StateOf(g *protocol.ThreadGoal, err error) State {
	switch {
	case err != nil:
		return Unavailable
	case g == nil:
		return None
	default:
		return State(g.Status)
	}
}

// Colour is the name of a status dot's colour.
type Colour string

const (
	Green   Colour = "green"
	Amber   Colour = "amber"
	Blue    Colour = "blue"
	Neutral Colour = "neutral"
)

// Colour of the status dot.
func (s State) Colour() Colour {
	switch s {
	case Active:
		return Green
	case Paused, Blocked, UsageLimited, BudgetLimited:
		return Amber
	case Complete:
		return Blue
	default:
		return Neutral
	}
}

// Dot is the status dot: filled where there is a goal, hollow where there is
// none or none is known. It is one column wide.
func (s State) Dot() string {
	if s == None || s == Unavailable {
		return "○"
	}
	return "●"
}

// Label is the state in words for people.
func (s State) Label() string {
	switch s {
	case UsageLimited:
		return "usage limited"
	case BudgetLimited:
		return "budget limited"
	case None:
		return "no goal"
	case Unavailable:
		return "goal unavailable"
	default:
		return string(s)
	}
}

// Actions lists what applies in the state, the likeliest first. Showing always
// does, and is left out.
func (s State) Actions() []Action {
	switch s {
	case Active:
		return []Action{Pause, Edit, Set, Clear}
	case Paused, Blocked, UsageLimited, BudgetLimited:
		return []Action{Resume, Edit, Set, Clear}
	case Complete:
		return []Action{Set, Clear}
	case None:
		return []Action{Set}
	case Unavailable:
		return nil // whatever it is, what to do to it would be a guess
	default:
		return []Action{Set, Clear}
	}
}

// Why says in one line what keeps a stopped goal from going on and what to do,
// or "" where the state says all. failed is the error of the goal's last turn
// if that turn failed, else nil: Codex calls a goal blocked both when the model
// says so and when a turn failed.
func Why(g *protocol.ThreadGoal, failed *protocol.TurnError) string {
	if g == nil {
		return ""
	}
	switch State(g.Status) {
	case Blocked:
		if failed != nil {
			return "a turn failed: " + failed.Message + "; " + remedy(failed)
		}
		return "the model says it cannot go on; edit the objective or give it what it lacks, then resume"
	case UsageLimited:
		if failed != nil {
			return "the account's usage limit was reached: " + failed.Message + "; resume once it is lifted"
		}
		return "the account's usage limit was reached; resume once it is lifted"
	case BudgetLimited:
		return "the token budget is used up; raise it and resume"
	default:
		return ""
	}
}

// Tokens is the tokens used against the goal's total budget, such as
// "1,234 of 5,000 tokens" or "1,234 tokens".
func Tokens(g *protocol.ThreadGoal) string {
	if g.TokenBudget == nil {
		return Thousands(g.TokensUsed) + " tokens"
	}
	return Thousands(g.TokensUsed) + " of " + Thousands(*g.TokenBudget) + " tokens"
}

// Thousands writes n with a comma between groups of three digits.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// Spent is the time that Codex counts for the goal.
func Spent(g *protocol.ThreadGoal) time.Duration {
	return time.Duration(g.TimeUsedSeconds) * time.Second
}

// Clock writes a duration as people read it: "7s", "3m07s", "2h05m".
func Clock(d time.Duration) string {
	d = d.Truncate(time.Second)
	seconds := int64(d / time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", seconds)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", seconds/60, seconds%60)
	default:
		return fmt.Sprintf("%dh%02dm", seconds/3600, seconds/60%60)
	}
}
