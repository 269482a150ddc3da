package worker

import (
	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker/lifecycle"
)

// dispatch puts a frame on the wire. This is where thread/goal/set, and every
// other mutation of the thread, is written.
func (l *loop) dispatch(f lifecycle.Frame, message string) codex.CallID {
	w, to := l.Worker, codex.ReplyTo(l.wire)
	switch methods[f.Role] {
	case protocol.ThreadGoalClearMethod.Name:
		return codex.Dispatch(w.client, protocol.ThreadGoalClearMethod, protocol.ThreadGoalClearParams{ThreadID: w.thread}, to)
	case protocol.ThreadGoalGetMethod.Name:
		return codex.Dispatch(w.client, protocol.ThreadGoalGetMethod, protocol.ThreadGoalGetParams{ThreadID: w.thread}, to)
	case protocol.ThreadResumeMethod.Name:
		return codex.Dispatch(w.client, protocol.ThreadResumeMethod, l.resumeParams(), to)
	case protocol.TurnInterruptMethod.Name:
		return codex.Dispatch(w.client, protocol.TurnInterruptMethod, protocol.TurnInterruptParams{ThreadID: w.thread, TurnID: f.Turn}, to)
	case protocol.TurnStartMethod.Name:
		return codex.Dispatch(w.client, protocol.TurnStartMethod, protocol.TurnStartParams{
			ThreadID: w.thread, Input: textInput(f.Text), ClientUserMessageID: protocol.Some(message),
		}, to)
	case protocol.TurnSteerMethod.Name:
		return codex.Dispatch(w.client, protocol.TurnSteerMethod, protocol.TurnSteerParams{
			ThreadID: w.thread, ExpectedTurnID: f.Turn, Input: textInput(f.Text), ClientUserMessageID: protocol.Some(message),
		}, to)
	}
	return codex.Dispatch(w.client, protocol.ThreadGoalSetMethod, w.setParams(f), to)
}

// methods names the call that each frame makes.
var methods = map[lifecycle.Role]string{
	lifecycle.RoleSet:       protocol.ThreadGoalSetMethod.Name,
	lifecycle.RolePark:      protocol.ThreadGoalSetMethod.Name,
	lifecycle.RoleUnpark:    protocol.ThreadGoalSetMethod.Name,
	lifecycle.RoleUndo:      protocol.ThreadGoalSetMethod.Name,
	lifecycle.RoleStallStop: protocol.ThreadGoalSetMethod.Name,
	lifecycle.RoleStopPause: protocol.ThreadGoalSetMethod.Name,
	lifecycle.RoleRestore:   protocol.ThreadGoalSetMethod.Name,
	lifecycle.RoleClear:     protocol.ThreadGoalClearMethod.Name,
	lifecycle.RoleReset:     protocol.ThreadGoalClearMethod.Name,
	lifecycle.RoleLook:      protocol.ThreadGoalGetMethod.Name,
	lifecycle.RoleDecide:    protocol.ThreadGoalGetMethod.Name,
	lifecycle.RoleConfirm:   protocol.ThreadGoalGetMethod.Name,
	lifecycle.RoleStallLook: protocol.ThreadGoalGetMethod.Name,
	lifecycle.RoleStopLook:  protocol.ThreadGoalGetMethod.Name,
	lifecycle.RoleLoad:      protocol.ThreadResumeMethod.Name,
	lifecycle.RoleStart:     protocol.TurnStartMethod.Name,
	lifecycle.RoleSteer:     protocol.TurnSteerMethod.Name,
	lifecycle.RoleInterrupt: protocol.TurnInterruptMethod.Name,
}

func (w *Worker) setParams(f lifecycle.Frame) protocol.ThreadGoalSetParams {
	p := protocol.ThreadGoalSetParams{ThreadID: w.thread}
	switch f.Role {
	case lifecycle.RoleStopPause, lifecycle.RoleStallStop, lifecycle.RolePark:
		p.Status = protocol.Some(protocol.ThreadGoalStatusPaused)
		return p
	case lifecycle.RoleUnpark:
		p.Status = protocol.Some(protocol.ThreadGoalStatusActive)
		return p
	case lifecycle.RoleRestore, lifecycle.RoleUndo:
		p.Status = protocol.Some(protocol.ThreadGoalStatusComplete)
		return p
	}
	p.TokenBudget = f.Change.Budget
	switch f.Change.Kind {
	case lifecycle.ChangeSet:
		p.Objective = protocol.Some(f.Change.Objective)
		// 0.160.1 leaves a stopped goal stopped when only its objective is set.
		p.Status = protocol.Some(protocol.ThreadGoalStatusActive)
	case lifecycle.ChangeResume:
		if f.Change.Objective != "" {
			p.Objective = protocol.Some(f.Change.Objective)
		}
		p.Status = protocol.Some(protocol.ThreadGoalStatusActive)
	case lifecycle.ChangePause:
		p.Status = protocol.Some(protocol.ThreadGoalStatusPaused)
	case lifecycle.ChangeEdit:
		p.Objective = protocol.Some(f.Change.Objective)
	}
	return p
}

func textInput(text string) []protocol.UserInput {
	return []protocol.UserInput{{Arm: &protocol.UserInputText{Text: text}}}
}

// replyOf turns the outcome of a call into the core's words.
func replyOf(r *codex.Reply) lifecycle.Reply {
	out := lifecycle.Reply{Err: r.Err}
	switch r.Delivery {
	case codex.NotSent:
		out.Delivery = lifecycle.NotSent
	case codex.Acknowledged:
		out.Delivery = lifecycle.Acknowledged
		out.Drift = r.Err != nil
	case codex.Rejected:
		out.Delivery = lifecycle.Rejected
	default:
		out.Delivery = lifecycle.Unknown
	}
	switch result := r.Result.(type) {
	case *protocol.ThreadGoalSetResponse:
		out.Goal = &result.Goal
	case *protocol.ThreadGoalGetResponse:
		out.Goal = result.Goal
	case *protocol.TurnStartResponse:
		out.TurnID = result.Turn.ID
	}
	return out
}

// eventOf turns a notification of the thread into the core's words; nil when it
// means nothing to it.
func eventOf(n protocol.Notification) lifecycle.Event {
	switch n := n.(type) {
	case *protocol.ThreadGoalUpdatedNotification:
		return lifecycle.GoalUpdated{Goal: &n.Goal}
	case *protocol.ThreadGoalClearedNotification:
		return lifecycle.GoalCleared{}
	case *protocol.TurnStartedNotification:
		return lifecycle.TurnStarted{ID: n.Turn.ID}
	case *protocol.TurnCompletedNotification:
		return lifecycle.TurnCompleted{ID: n.Turn.ID, Status: n.Turn.Status, Error: n.Turn.Error}
	}
	return nil
}
