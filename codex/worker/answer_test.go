package worker_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/worker"
)

// says is a message of the model's in a phase; "" names none.
func says(phase, text string) codextest.Step {
	item := fmt.Sprintf(`{"type":"message","id":"msg_%x","role":"assistant","content":[{"type":"output_text","text":%q}]`, text, text)
	if phase != "" {
		item += fmt.Sprintf(`,"phase":%q`, phase)
	}
	return codextest.Item(json.RawMessage(item + "}"))
}

func TestTheAnswerIsTheLastFinalOneElseTheLastWithoutAPhase(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		says []codextest.Step
		want worker.TurnResult
	}{
		"commentary behind the answer":     {[]codextest.Step{says("final_answer", "Four."), says("commentary", "That was easy.")}, worker.TurnResult{Answer: "Four."}},
		"the last of two answers":          {[]codextest.Step{says("final_answer", "Five."), says("final_answer", "Four.")}, worker.TurnResult{Answer: "Four."}},
		"no phase behind the answer":       {[]codextest.Step{says("final_answer", "Four."), says("", "Anything else?")}, worker.TurnResult{Answer: "Four."}},
		"a message without a phase":        {[]codextest.Step{says("commentary", "I add them."), says("", "Four."), says("commentary", "Done.")}, worker.TurnResult{Answer: "Four."}},
		"the last of two without a phase":  {[]codextest.Step{says("", "Five."), says("", "Four.")}, worker.TurnResult{Answer: "Four."}},
		"commentary alone is no answer":    {[]codextest.Step{says("commentary", "I add them.")}, worker.TurnResult{OnlyCommentary: true}},
		"nothing said is no answer either": {nil, worker.TurnResult{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, codextest.InOrder(codextest.Reply(row.says)))
			op := d.prompt(d.worker(), "two and two?")
			turn, err := op.WaitTurn(d.ctx)
			if err != nil || turn.Answer != row.want.Answer || turn.OnlyCommentary != row.want.OnlyCommentary {
				t.Errorf("turn %+v, %v, want answer %q, only commentary %t", turn, err, row.want.Answer, row.want.OnlyCommentary)
			}
		})
	}
}
