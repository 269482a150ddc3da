package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var inTurn = []string{"set", "look[1] none", "set[1] active", "turn started"}

// contract is what callers may rely on, case by case: what happens in which order,
// and all that is written, answered and ended for it.
var contract = []struct {
	name  string
	given []string
	when  []string
	want  []string
}{
	{
		"a turn that completes while a change is pending does not end the operation",
		inTurn,
		[]string{"set", "goal update old complete", "turn completed", "set[2] active", "turn started"},
		[]string{"write set[2]", "answer 2 op 1"},
	},
	{
		"a turn that fails while a change is pending does not end the operation",
		inTurn,
		[]string{"set", "goal update old paused", "turn failed", "set[2] active"},
		[]string{"write set[2]", "answer 2 op 1"},
	},
	{
		"a turn that is interrupted while a change is pending does not end the operation",
		inTurn,
		[]string{"set", "turn interrupted", "set[2] active", "turn started"},
		[]string{"write set[2]", "answer 2 op 1"},
	},
	{
		"a reply that is not active ends the held operation and says that no work started",
		inTurn,
		[]string{"set", "turn completed", "set[2] not active"},
		[]string{"write set[2]", "answer 2 op 1 not started", "ended 1 budgetLimited"},
	},
	{
		"a rejected change ends the held operation as it was, and only the submitter hears of it",
		inTurn,
		[]string{"set", "goal update old complete", "turn completed", "set[2] rejected"},
		[]string{"write set[2]", "answer 2 op 1: refused", "ended 1 complete"},
	},
	{
		"goal updates and a clear before the reply end nothing",
		inTurn,
		[]string{"set", "goal update old paused", "goal cleared", "turn completed", "set[2] active"},
		[]string{"write set[2]", "answer 2 op 1"},
	},
	{
		"a pause of the acknowledged objective after the reply ends the operation with its turn",
		inTurn,
		[]string{"set", "set[2] active", "goal update old paused", "turn completed"},
		[]string{"write set[2]", "answer 2 op 1", "ended 1 paused"},
	},
	{
		"an update after the reply that contradicts it is decided by reading",
		inTurn,
		[]string{"set", "set[2] active", "goal update contradicting", "turn completed", "decide[0] as known"},
		[]string{"write set[2]", "answer 2 op 1", "write decide[0]"},
	},
	{
		"a goal that somebody else changed is said to be changed elsewhere",
		inTurn,
		[]string{"set", "set[2] active", "goal update contradicting", "decide[0] another"},
		[]string{"write set[2]", "answer 2 op 1", "write decide[0]", "elsewhere"},
	},
	{
		"a clear after the reply is decided by reading",
		inTurn,
		[]string{"set", "set[2] active", "goal cleared", "turn completed", "decide[0] none"},
		[]string{"write set[2]", "answer 2 op 1", "write decide[0]", "elsewhere", "ended 1 cleared"},
	},
	{
		"a change whose owner finished is not sent",
		append(slices.Clone(inTurn), "goal update old complete", "turn completed"),
		[]string{"set for a finished owner"},
		[]string{"answer 2: " + ErrOwnerFinished.Error()},
	},
	{
		"a change that waited while its owner finished is not sent",
		inTurn,
		[]string{"pause", "set", "turn completed", "pause[2] paused"},
		[]string{"write pause[2]", "answer 2 op 1", "ended 1 paused", "answer 3: " + ErrOwnerFinished.Error()},
	},
	{
		"submitted again it starts anew, clearing the complete goal first",
		append(slices.Clone(inTurn), "goal update old complete", "turn completed"),
		[]string{"set", "look[2] as known", "reset[2] cleared", "goal cleared", "set[2] active", "turn started"},
		[]string{"write look[2]", "began 2 goal", "write reset[2]", "write set[2]", "answer 2 op 2"},
	},
	{
		"a goal that is not complete is replaced in place",
		[]string{"goal update old paused"},
		[]string{"set", "look[1] as known", "set[1] active"},
		[]string{"write look[1]", "began 1 goal", "write set[1]", "answer 1 op 1"},
	},
	{
		"a lost reply ends everything and leaves one frame on the wire",
		inTurn,
		[]string{"set", "set", "set[2] lost"},
		[]string{"write set[2]", "answer 2 unknown: lost", "answer 3: " + ErrDisconnected.Error() + ": lost", "ended 1 disconnected", "disconnect"},
	},
	{
		"a lost connection ends everything and leaves one frame on the wire",
		inTurn,
		[]string{"set", "connection lost"},
		[]string{"write set[2]", "answer 2 unknown: lost", "ended 1 disconnected"},
	},
	{
		"a reply that cannot be decoded is read back, not sent again",
		inTurn,
		[]string{"set", "set[2] undecodable", "turn completed", "confirm[2] another"},
		[]string{"write set[2]", "write confirm[2]", "answer 2 op 1"},
	},
	{
		"replacements are written one at a time, in order",
		inTurn,
		[]string{"set", "set", "set[2] active", "set[3] active"},
		[]string{"write set[2]", "answer 2 op 1", "write set[3]", "answer 3 op 1"},
	},
	{
		"a stop between turns pauses, waits for a turn that may follow, and ends stopped",
		append(slices.Clone(inTurn), "turn completed"),
		[]string{"stop", "stop-pause[0] paused", "timer 4 fires", "rest ended"},
		[]string{"write stop-pause[0]", "end rest", "ended 1 stopped", "answer 2 op 1 stopped"},
	},
	{
		"a stop interrupts the turn that started behind its pause",
		append(slices.Clone(inTurn), "turn completed"),
		[]string{"stop", "stop-pause[0] paused", "turn started", "turn interrupted", "rest ended"},
		[]string{"write stop-pause[0]", "write interrupt[0]t2", "end rest", "ended 1 stopped", "answer 2 op 1 stopped"},
	},
	{
		"a stop behind a pending change wins, whatever the reply",
		inTurn,
		[]string{"set", "stop", "set[2] active", "stop-pause[0] paused", "turn interrupted", "rest ended"},
		[]string{"write set[2]", "write stop-pause[0]", "answer 2 op 1", "write interrupt[0]t1", "end rest", "ended 1 stopped", "answer 3 op 1 stopped"},
	},
	{
		"a stop drops the changes that were not written",
		inTurn,
		[]string{"set", "edit", "stop"},
		[]string{"write set[2]", "answer 3 op 1: " + ErrStopped.Error(), "write stop-pause[0]"},
	},
	{
		"a goal that completed before the stop's pause is left complete",
		inTurn,
		[]string{"stop", "goal update old complete", "stop-pause[0] paused", "restore[0] complete", "turn completed", "timer 4 fires", "rest ended"},
		[]string{"write stop-pause[0]", "write restore[0]", "write interrupt[0]t1", "end rest", "ended 1 complete", "answer 2 op 1 complete"},
	},
	{
		"a goal known to be complete is not paused by a stop",
		append(slices.Clone(inTurn), "goal update old complete"),
		[]string{"stop", "turn interrupted", "rest ended"},
		[]string{"write interrupt[0]t1", "end rest", "ended 1 complete", "answer 2 op 1 complete"},
	},
	{
		"a stop whose pause is not answered ends the app-server, and pauses the goal behind it",
		inTurn,
		[]string{"stop", "timer 2 fires", "looked back active", "set back"},
		[]string{"write stop-pause[0]", "look back", "disconnect", "set back paused", "ended 1 disconnected",
			"answer 2 op 1 disconnected: " + ErrStopTimeout.Error() + "; the goal is paused now"},
	},
	{
		"a stop that cannot read the goal back says so",
		inTurn,
		[]string{"stop", "timer 2 fires", "looked back lost"},
		[]string{"write stop-pause[0]", "look back", "disconnect", "ended 1 disconnected",
			"answer 2 op 1 disconnected: " + ErrStopTimeout.Error() + "; " + ErrStopUnknown.Error() + ": lost"},
	},
	{
		"an orderly end kills nothing",
		inTurn,
		[]string{"stop", "closed"},
		[]string{"write stop-pause[0]", "ended 1 disconnected", "answer 2 op 1 disconnected: closed"},
	},
	{
		"a goal set during a prompt makes the prompt's operation its own",
		[]string{"prompt", "look[1] as known", "turn-start[1] accepted", "turn started"},
		[]string{"set", "set[2] active", "turn completed", "turn started"},
		[]string{"write set[2]", "became 1", "answer 2 op 1"},
	},
	{
		"a goal refused during a prompt leaves the prompt as it was",
		[]string{"prompt", "look[1] as known", "turn-start[1] accepted", "turn started"},
		[]string{"set", "set[2] rejected", "turn completed"},
		[]string{"write set[2]", "answer 2 op 1: refused", "ended 1 done"},
	},
	{
		"a goal that the model creates during a prompt is adopted",
		[]string{"prompt", "look[1] as known", "turn-start[1] accepted", "turn started"},
		[]string{"goal update old active", "decide[0] another", "turn completed", "turn started"},
		[]string{"write decide[0]", "became 1"},
	},
	{
		"a prompt while an operation runs is refused as busy",
		inTurn,
		[]string{"prompt"},
		[]string{"answer 2: " + ErrBusy.Error()},
	},
	{
		"a steer goes to the running turn and owns nothing",
		inTurn,
		[]string{"steer", "steer[2]t1 accepted"},
		[]string{"write steer[2]t1", "answer 2 op 1"},
	},
	{
		"a steer without an answer is its caller's trouble, and the run goes on",
		inTurn,
		[]string{"steer", "steer[2]t1 lost", "turn completed", "turn started"},
		[]string{"write steer[2]t1", "answer 2 op 1 unknown: lost"},
	},
	{
		"a turn that Codex starts by itself is adopted",
		[]string{"goal update old active"},
		[]string{"turn started", "goal update old complete", "turn completed"},
		[]string{"began 1 goal adopted", "ended 1 complete"},
	},
	{
		"an active goal without a turn ends stalled, and paused",
		inTurn,
		[]string{"turn interrupted", "timer 1 fires", "stall-look[0] as known", "stall-pause[0] paused"},
		[]string{"write stall-look[0]", "write stall-pause[0]", "ended 1 stalled"},
	},
	{
		"a turn that starts in time keeps the goal from stalling",
		inTurn,
		[]string{"turn interrupted", "timer 1 fires", "turn started", "stall-look[0] as known"},
		[]string{"write stall-look[0]"},
	},
	{
		"a goal set on a stored thread is set once the thread is loaded",
		nil,
		[]string{"set", "look[1] as known", "load[1] loaded", "set[1] active", "turn started"},
		[]string{"write look[1]", "began 1 goal", "write load[1]", "write set[1]", "answer 1 op 1"},
	},
	{
		"a stored thread that cannot be loaded keeps its goal as it was",
		[]string{"goal update old paused"},
		[]string{"set", "look[1] as known", "load[1] rejected"},
		[]string{"write look[1]", "began 1 goal", "write load[1]", "answer 1 op 1: refused", "ended 1 failed"},
	},
	{
		"a stored active goal is paused before its thread is loaded for another objective",
		[]string{"goal update old active"},
		[]string{"set", "look[1] another", "park[1] paused", "load[1] loaded", "set[1] active", "turn started"},
		[]string{"write look[1]", "began 1 goal", "write park[1]", "write load[1]", "write set[1]", "answer 1 op 1"},
	},
	{
		"a stored active goal is set active again when its thread cannot be loaded",
		[]string{"goal update old active"},
		[]string{"set", "look[1] another", "park[1] paused", "load[1] rejected", "unpark[1] active"},
		[]string{"write look[1]", "began 1 goal", "write park[1]", "write load[1]", "write unpark[1]", "answer 1 op 1: refused", "ended 1 failed"},
	},
	{
		"a stored active goal that is left paused is said to be",
		[]string{"goal update old active"},
		[]string{"set", "look[1] another", "park[1] paused", "load[1] loaded", "set[1] rejected"},
		[]string{"write look[1]", "began 1 goal", "write park[1]", "write load[1]", "write set[1]",
			"answer 1 op 1: " + ErrOnlyPaused.Error() + ": refused", "ended 1 failed"},
	},
	{
		"a stored active goal that is resumed goes on as soon as its thread is loaded",
		[]string{"goal update old active"},
		[]string{"resume", "look[1] another", "load[1] loaded", "turn started", "resume[1] active"},
		[]string{"write look[1]", "began 1 goal", "write load[1]", "write resume[1]", "answer 1 op 1"},
	},
	{
		"nothing is written to a stored thread that another process has",
		[]string{"goal update old active"},
		[]string{"set", "look[1] held", "resume", "look[2] held", "edit", "look[3] held", "clear", "look[4] held",
			"budget", "look[5] held", "prompt", "look[6] held", "pause", "look[7] held"},
		[]string{"write look[1]", "answer 1: " + ErrThreadHeld.Error(), "write look[2]", "answer 2: " + ErrThreadHeld.Error(),
			"write look[3]", "answer 3: " + ErrThreadHeld.Error(), "write look[4]", "answer 4: " + ErrThreadHeld.Error(),
			"write look[5]", "answer 5: " + ErrThreadHeld.Error(), "write look[6]", "answer 6: " + ErrThreadHeld.Error(),
			"write look[7]", "answer 7: " + ErrThreadHeld.Error()},
	},
	{
		"a stored goal can be paused by force while another process has its thread",
		[]string{"goal update old active"},
		[]string{"pause by force", "look[1] held", "pause[1] paused"},
		[]string{"write look[1]", "write pause[1]", "answer 1 held"},
	},
	{
		"a prompt on a stored thread loads it first",
		nil,
		[]string{"prompt", "look[1] as known", "load[1] loaded", "turn-start[1] accepted"},
		[]string{"write look[1]", "began 1 prompt", "write load[1]", "write turn-start[1]", "answer 1 op 1"},
	},
	{
		"a prompt on a stored thread whose goal is active is refused and loads nothing",
		nil,
		[]string{"prompt", "look[1] another"},
		[]string{"write look[1]", "answer 1: " + ErrGoalActive.Error()},
	},
	{
		"a prompt on a thread whose goal somebody made active is refused",
		[]string{"goal update old paused"},
		[]string{"prompt", "look[1] another"},
		[]string{"write look[1]", "answer 1: " + ErrGoalActive.Error()},
	},
	{
		"a goal that was complete when last heard of is paused if it is active",
		[]string{"goal update old complete"},
		[]string{"pause", "look[1] another", "pause[1] paused"},
		[]string{"write look[1]", "write pause[1]", "answer 1"},
	},
	{
		"a stop while a prompt waits for its stored thread sends nothing of it",
		nil,
		[]string{"prompt", "look[1] as known", "stop", "load[1] loaded", "rest ended"},
		[]string{"write look[1]", "began 1 prompt", "write load[1]", "answer 1 op 1: " + ErrStopped.Error(), "end rest", "ended 1 stopped", "answer 2 op 1 stopped"},
	},
	{
		"an edit where there is no goal is refused after a look",
		nil,
		[]string{"edit", "look[1] as known"},
		[]string{"write look[1]", "answer 1: " + ErrNoGoal.Error()},
	},
	{
		"a start whose goal cannot be read is not sent",
		nil,
		[]string{"set", "look[1] rejected"},
		[]string{"write look[1]", "answer 1: " + ErrUnread.Error() + ": refused"},
	},
	{
		"a new goal refused after the complete one was cleared says so",
		[]string{"goal update old complete"},
		[]string{"set", "look[1] complete", "reset[1] cleared", "set[1] rejected"},
		[]string{"write look[1]", "began 1 goal", "write reset[1]", "write set[1]",
			"answer 1 op 1: " + ErrOnlyCleared.Error() + ": refused", "ended 1 failed"},
	},
	{
		"a turn whose id cannot be read is waited for all the same",
		nil,
		[]string{"prompt", "look[1] as known", "turn-start[1] undecodable", "turn started", "turn completed"},
		[]string{"write look[1]", "began 1 prompt", "write turn-start[1]", "answer 1 op 1", "ended 1 done"},
	},
	{
		"a read without an answer ends nothing",
		inTurn,
		[]string{"goal update contradicting", "decide[0] rejected", "turn completed", "turn started"},
		[]string{"write decide[0]"},
	},
	{
		"closing leaves a stored goal as it was when nothing ran",
		[]string{"goal update old active"},
		[]string{"close"},
		[]string{"answer 1"},
	},
	{
		"closing refuses what is submitted from then on",
		inTurn,
		[]string{"close", "set"},
		[]string{"write stop-pause[0]", "answer 3: " + ErrClosing.Error()},
	},
	{
		"a pause that comes after the goal completed is undone",
		inTurn,
		[]string{"pause", "goal update old complete", "pause[2] paused", "undo[2] complete", "turn completed"},
		[]string{"write pause[2]", "write undo[2]", "answer 2 op 1 completed", "ended 1 complete"},
	},
}

func TestContract(t *testing.T) {
	for _, c := range contract {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			load := Loaded
			if strings.Contains(c.name, "stored") {
				load = LoadNone
			}
			w := newWorld(load, 100)
			for _, name := range c.given {
				w = follow(t, Step, w, name)
			}
			w.state.GoalKnown = true
			var got []string
			recording := func(s State, e Event) (State, []Effect) {
				next, effects := Step(s, e)
				for _, effect := range effects {
					if line := describe(effect); line != "" {
						got = append(got, line)
					}
				}
				return next, effects
			}
			for _, name := range c.when {
				w = follow(t, recording, w, name)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("after %q (-want +got):\n%s", c.when, d)
			}
		})
	}
}

// describe puts an effect into the contract's words; timers are left out.
func describe(effect Effect) string {
	switch e := effect.(type) {
	case Write:
		return "write " + label(e.Frame)
	case Began:
		return fmt.Sprintf("began %d %s%s", e.Op, e.Kind, when(e.Adopted, " adopted"))
	case Became:
		return fmt.Sprintf("became %d", e.Op)
	case Ended:
		return fmt.Sprintf("ended %d %s", e.Op, e.Outcome.End)
	case Elsewhere:
		return "elsewhere"
	case Disconnect:
		return "disconnect"
	case EndRest:
		return "end rest"
	case LookBack:
		return "look back"
	case SetBack:
		return "set back " + string(e.Status)
	case Answer:
		s := fmt.Sprintf("answer %d", e.Ticket)
		if e.Op != 0 {
			s += fmt.Sprintf(" op %d", e.Op)
		}
		if e.Outcome != nil {
			s += " " + string(e.Outcome.End)
		}
		s += []string{"", " not started", " unreadable", " completed", " held"}[e.Note] + when(e.Unknown, " unknown")
		if e.Err != nil {
			s += ": " + e.Err.Error()
		}
		return s
	}
	return ""
}

func when(yes bool, s string) string {
	if yes {
		return s
	}
	return ""
}
