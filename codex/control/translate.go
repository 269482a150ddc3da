package control

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
	"github.com/codexctl/codexctl/goal"
)

// GoalOf puts a native goal in the wire's words. Nil stays nil.
func GoalOf(g *protocol.ThreadGoal) *Goal {
	if g == nil {
		return nil
	}
	state := goal.StateOf(g, nil)
	return &Goal{
		Objective: g.Objective, State: state, Label: state.Label(), Colour: state.Colour(),
		TokensUsed: g.TokensUsed, TokenBudget: g.TokenBudget, TimeUsedSeconds: g.TimeUsedSeconds,
		CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
	}
}

func turnErrorOf(e *protocol.TurnError) *TurnError {
	if e == nil {
		return nil
	}
	out := &TurnError{Message: e.Message}
	if e.CodexErrorInfo == nil {
		return out
	}
	// A bare word, or an object whose one key is the word.
	if raw, err := json.Marshal(e.CodexErrorInfo); err == nil {
		var fields map[string]jsontext.Value
		if json.Unmarshal(raw, &out.Code) != nil && json.Unmarshal(raw, &fields) == nil {
			for word := range fields {
				out.Code = word
			}
		}
	}
	return out
}

func operationOf(op *worker.Operation) *Operation {
	if op == nil {
		return nil
	}
	return &Operation{ID: op.ID(), Kind: op.Kind().String()}
}

// endedOf describes the end of an operation.
func endedOf(op *worker.Operation, out worker.Outcome) *OperationEnded {
	ended := &OperationEnded{Operation: *operationOf(op), End: string(out.End), Goal: GoalOf(out.Goal)}
	var failed *protocol.TurnError
	if out.Turn != nil {
		ended.Answer = out.Turn.Answer
		ended.TurnError = turnErrorOf(out.Turn.Error)
		failed = out.Turn.Error
	}
	switch {
	case out.Err != nil:
		ended.Why = out.Err.Error()
	case out.End == worker.EndFailed && failed != nil:
		ended.Why = failed.Message
	default:
		ended.Why = goal.Why(out.Goal, failed)
	}
	return ended
}

// translator turns a worker's events into the wire's, one subscription's worth.
type translator struct {
	thread string        // the worker's
	answer worker.Answer // of the running turn, so far
}

func (t *translator) events(e worker.Event) []Payload {
	switch {
	case e.Lagged > 0:
		return []Payload{&Lagged{Dropped: e.Lagged}}
	case e.Operation != nil:
		return t.operation(e.Operation)
	case e.Elsewhere != nil:
		return []Payload{&Warning{Code: "CHANGED_ELSEWHERE", Message: "another client of Codex changed the goal while it was being worked on"}}
	case e.Request != nil:
		if a := askedIn(e.Request, t.thread); a != nil {
			return []Payload{a}
		}
	case e.Answer != nil:
		if p := settled(e.Answer, t.thread); p != nil {
			return []Payload{p}
		}
	case e.Notification != nil:
		return t.notification(e.Notification)
	}
	return nil
}

func (t *translator) operation(e *worker.OperationEvent) []Payload {
	op := *operationOf(e.Operation)
	switch e.Step {
	case worker.Began:
		return []Payload{&OperationStarted{Operation: op, Adopted: e.Operation.Adopted()}}
	case worker.Became:
		return []Payload{&OperationChanged{Operation: op}}
	case worker.Ended:
		return []Payload{endedOf(e.Operation, *e.Outcome)}
	}
	return nil
}

func (t *translator) notification(n protocol.Notification) []Payload {
	switch n := n.(type) {
	case *protocol.ThreadGoalUpdatedNotification:
		return []Payload{&GoalUpdated{Goal: *GoalOf(&n.Goal), Turn: deref(n.TurnID)}}
	case *protocol.ThreadGoalClearedNotification:
		return []Payload{&GoalCleared{}}
	case *protocol.TurnStartedNotification:
		t.answer = worker.Answer{}
		return []Payload{&TurnStarted{Turn: n.Turn.ID}}
	case *protocol.TurnCompletedNotification:
		return []Payload{&TurnEnded{Turn: n.Turn.ID, Status: string(n.Turn.Status), Error: turnErrorOf(n.Turn.Error),
			Answer: t.answer.Text(), OnlyCommentary: t.answer.OnlyCommentary()}}
	case *protocol.ItemStartedNotification:
		return []Payload{&ItemStarted{itemOf(n.TurnID, n.Item)}}
	case *protocol.ItemCompletedNotification:
		t.answer.Take(n.Item)
		return []Payload{&ItemCompleted{itemOf(n.TurnID, n.Item)}}
	case *protocol.AgentMessageDeltaNotification:
		return []Payload{&TextDelta{Turn: n.TurnID, Item: n.ItemID, Text: n.Delta}}
	case *protocol.ThreadTokenUsageUpdatedNotification:
		return []Payload{&Usage{
			Turn: n.TurnID, Total: n.TokenUsage.Total.TotalTokens, LastRequest: n.TokenUsage.Last.TotalTokens,
			ContextWindow: n.TokenUsage.ModelContextWindow,
		}}
	case *protocol.ErrorNotification:
		if n.WillRetry { // without it the turn's end tells
			return []Payload{&Warning{Code: "RETRY", Message: n.Error.Message}}
		}
	case *protocol.WarningNotification:
		return []Payload{&Warning{Code: "CODEX", Message: n.Message}}
	case *protocol.ConfigWarningNotification:
		return []Payload{&Warning{Code: "CONFIG", Message: n.Summary}}
	}
	return nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
