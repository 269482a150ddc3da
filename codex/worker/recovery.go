package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
)

// Verdict is what reading back says of a mutation whose outcome nobody learned.
type Verdict string

// What can be found out.
const (
	Delivered    Verdict = "delivered"
	NotDelivered Verdict = "not delivered"
	Undetermined Verdict = "undetermined" // old and new state look the same, or it was changed again since
	// OnlyCleared: a complete goal was cleared for a new one, which was not set.
	OnlyCleared Verdict = "only cleared"
	// OnlyPaused: a stored active goal was paused for a new one, which was not set.
	OnlyPaused Verdict = "only paused"
)

// Recovery is an intent of an earlier owner without an outcome, and what was found
// out. It is never sent again: that is for people to decide.
type Recovery struct {
	Intent  Intent               `json:"intent"`
	Verdict Verdict              `json:"verdict"`
	Goal    *protocol.ThreadGoal `json:"goal,omitempty"` // as it was read back; nil is none
}

// String says in one line what was found out.
func (r Recovery) String() string {
	what := r.Intent.Method
	switch {
	case r.Intent.Then != "":
		what += " to make room for " + quoted(r.Intent.Then)
	case r.Intent.Objective != "":
		what += " of " + quoted(r.Intent.Objective)
	case r.Intent.Text != "":
		what += " of " + quoted(r.Intent.Text)
	}
	const ended = " was under way when its owner ended; "
	switch r.Verdict {
	case Delivered:
		return what + ended + "it was delivered"
	case NotDelivered:
		return what + ended + "it was not delivered"
	case OnlyCleared:
		return what + ended + "the complete goal was cleared, the new objective was not set"
	case OnlyPaused:
		return what + ended + "the stored goal was paused, the new objective was not set: resume the old one, or set the new one again"
	default: // Undetermined, and what a newer journal says
		return what + ended + "whether it was delivered cannot be told"
	}
}

// quoted shows the beginning of a text.
func quoted(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return "\"" + s + "\""
}

// waitGone waits for the app-server of the last owner to end. Until then a change
// left in its pipe can still land: 7 of 25 did, 13 to 74 ms after their client
// had died.
func waitGone(ctx context.Context, p codex.ProcessID, timeout time.Duration) error {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for p.Alive() {
		select {
		case <-poll.C:
		case <-deadline.C:
			return fmt.Errorf("%w as process %d; a change it was given may still land: end it, then try again", ErrPredecessorAlive, p.PID)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// recoverIntents decides every open intent by reading the native state, which
// needs no loaded thread. The last app-server must be gone.
func recoverIntents(ctx context.Context, c *codex.Client, h *history) ([]Recovery, error) {
	open := h.open()
	if h.Cleared != nil {
		open = append(open, *h.Cleared)
	}
	if len(open) == 0 {
		return nil, nil
	}
	goal, err := readGoal(ctx, c, h.Thread)
	gone := isUnknownThread(err)
	if err != nil && !gone {
		return nil, fmt.Errorf("read the goal back: %w", err)
	}
	var found []Recovery
	for _, in := range open {
		r := Recovery{Intent: in, Goal: goal}
		switch {
		case gone && h.Durable[in.Thread]:
			r.Verdict = Undetermined // archived or deleted since
		case gone:
			// 0.160.1 stores a thread with its first goal or turn: neither came.
			r.Verdict = NotDelivered
		case in.Message != "":
			r.Verdict, err = findMessage(ctx, c, h.Thread, in.Message)
			if err != nil {
				return nil, fmt.Errorf("read the thread back: %w", err)
			}
		default:
			r.Verdict = verdict(in, goal)
		}
		found = append(found, r)
	}
	return found, nil
}

// verdict compares the goal read back with what the intent asked for and what was
// there before. That nothing came is said only of what nobody has touched since: a
// goal that looks as before may have been changed and changed back, and no goal
// may be one that was set and cleared.
func verdict(in Intent, now *protocol.ThreadGoal) Verdict {
	if in.Method == protocol.ThreadGoalClearMethod.Name {
		return clearVerdict(in, now)
	}
	switch {
	case !in.BeforeKnown:
		return Undetermined
	case asked(in, now) && !asked(in, in.Before) && in.Then != "":
		return OnlyPaused
	case asked(in, now) && !asked(in, in.Before):
		return Delivered
	case !asked(in, now) && untouched(in, now):
		return NotDelivered
	}
	return Undetermined
}

func clearVerdict(in Intent, now *protocol.ThreadGoal) Verdict {
	switch {
	case !in.BeforeKnown || in.Before == nil:
		return Undetermined
	case now == nil && in.Then != "":
		return OnlyCleared
	case now == nil:
		return Delivered
	case now.CreatedAt == in.Before.CreatedAt && since(in, now.CreatedAt):
		return NotDelivered
	}
	return Undetermined // another goal has been set since
}

// untouched reports whether nothing can have come to the goal since the intent was
// written. 0.160.1 notes the second of each change.
func untouched(in Intent, now *protocol.ThreadGoal) bool {
	before := in.Before
	return before != nil && now != nil && since(in, now.UpdatedAt) &&
		now.CreatedAt == before.CreatedAt && now.UpdatedAt == before.UpdatedAt &&
		now.Objective == before.Objective && now.Status == before.Status
}

// since reports whether the intent was written in a later second than the one
// given in Unix seconds, so that its landing would have another one.
func since(in Intent, second int64) bool { return in.At/1000 > second }

// asked reports whether a goal is as the intent asks for. A goal that was active
// has moved on by itself meanwhile; then its objective alone tells.
func asked(in Intent, goal *protocol.ThreadGoal) bool {
	if goal == nil {
		return false
	}
	if in.Objective != "" {
		return goal.Objective == in.Objective
	}
	if in.Status != "" && goal.Status != in.Status {
		return false
	}
	if budget, ok := in.Budget.Get(); ok {
		return goal.TokenBudget != nil && *goal.TokenBudget == budget
	}
	return !in.Budget.IsNull() || goal.TokenBudget == nil
}

// findMessage looks for a user message by the client's own id.
func findMessage(ctx context.Context, c *codex.Client, thread, message string) (Verdict, error) {
	var cursor protocol.Opt[protocol.ThreadItemsListCursor]
	for {
		page, err := codex.Call(ctx, c, protocol.ThreadItemsListMethod, protocol.ThreadItemsListParams{
			ThreadID: thread, Cursor: cursor, SortDirection: protocol.Some(protocol.SortDirectionDesc),
		})
		if err != nil {
			return "", err
		}
		for _, entry := range page.Data {
			if m, ok := entry.Item.Arm.(*protocol.ThreadItemUserMessage); ok && m.ClientID != nil && *m.ClientID == message {
				return Delivered, nil
			}
		}
		if page.NextCursor == nil || len(page.Data) == 0 {
			// A turn that was cut off by a kill reads back without its items.
			return lastTurnVerdict(ctx, c, thread)
		}
		cursor = protocol.Some(protocol.ThreadItemsListCursor{Arm: protocol.ThreadItemsListCursorString(*page.NextCursor)})
	}
}

func lastTurnVerdict(ctx context.Context, c *codex.Client, thread string) (Verdict, error) {
	page, err := codex.Call(ctx, c, protocol.ThreadTurnsListMethod, protocol.ThreadTurnsListParams{
		ThreadID: thread, Limit: protocol.Some(uint32(1)), ItemsView: protocol.Some(protocol.TurnItemsViewFull),
	})
	if err != nil {
		return "", err
	}
	if len(page.Data) > 0 && page.Data[0].Status == protocol.TurnStatusInterrupted && len(page.Data[0].Items) == 0 {
		return Undetermined, nil
	}
	return NotDelivered, nil
}
