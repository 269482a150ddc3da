package worker

import "github.com/codexctl/codexctl/codex/protocol"

// Answer finds the answer of a turn among its messages. The zero value is that of a turn which has said nothing yet.
//
// 0.160.1 gives a message a phase: commentary is what the model says on its way, final_answer what it has come to. The
// answer is the last final answer, else the last message that names no phase, as models do that know none. Commentary
// alone is no answer.
type Answer struct {
	final, plain string
	finished     bool // a final answer came, be it blank
	commentary   bool
}

// Take notes an item that was completed.
func (a *Answer) Take(item protocol.ThreadItem) {
	m, ok := item.Arm.(*protocol.ThreadItemAgentMessage)
	switch {
	case !ok:
	case m.Phase == nil:
		a.plain = m.Text
	case *m.Phase == protocol.MessagePhaseCommentary:
		a.commentary = true
	default: // final, or a phase that a newer Codex adds behind it
		a.final, a.finished = m.Text, true
	}
}

// Text is the answer as far as it came; "" is none.
func (a *Answer) Text() string {
	if a.finished {
		return a.final
	}
	return a.plain
}

// OnlyCommentary reports whether the turn has spoken, and nothing of it was an answer.
func (a *Answer) OnlyCommentary() bool { return a.commentary && a.Text() == "" }
