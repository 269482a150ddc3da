package codextest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Text has the model say text at once. Text that follows text, whatever delays or gates lie between, continues the same
// message; see [NewMessage].
func Text(text string) Step {
	return step(func(_ context.Context, a *answer) error { return a.say(text) })
}

// Paced has the model say text one word at a time, with a pause of every after each word but the last. With no pause
// the words come as fast as Codex reads them.
func Paced(text string, every time.Duration) Step {
	words := strings.SplitAfter(text, " ")
	return step(func(ctx context.Context, a *answer) error {
		for i, word := range words {
			if i > 0 && every > 0 {
				if err := wait(ctx, every); err != nil {
					return err
				}
			}
			if err := a.say(word); err != nil {
				return err
			}
		}
		return nil
	})
}

// NewMessage ends the message that is open, so that the text after it begins another.
func NewMessage() Step {
	return step(func(_ context.Context, a *answer) error { return a.finishMessage() })
}

// Call has the model call a function tool. The arguments are encoded as JSON, but a string is passed as it stands, be
// it JSON or not. Codex runs the tool once the response is completed and asks the model again in the same turn, so a
// script needs a reply for that request too.
func Call(tool string, arguments any) Step {
	return CallID("", tool, arguments)
}

// CallID is [Call] with a call id of the script's choosing, which is then also the id of the native item. An empty id
// stands for one that is unique.
func CallID(id, tool string, arguments any) Step {
	return step(func(_ context.Context, a *answer) error {
		text, isText := arguments.(string)
		if !isText {
			data, err := json.Marshal(arguments)
			if err != nil {
				return fmt.Errorf("encode the arguments of %s: %w", tool, err)
			}
			text = string(data)
		}
		return a.call("function_call", "arguments", id, tool, text)
	})
}

// CustomCall has the model call a custom tool, one that takes plain text such as apply_patch.
func CustomCall(tool, input string) Step {
	return step(func(_ context.Context, a *answer) error {
		return a.call("custom_tool_call", "input", "", tool, input)
	})
}

func (a *answer) call(kind, field, id, tool, text string) error {
	if id == "" {
		id = fmt.Sprintf("call_%d_%d_%d", a.model.number, a.request.N, a.items+1)
	}
	return a.item(map[string]any{"type": kind, "id": "item_" + id, "call_id": id, "name": tool, field: text})
}

// Item has the model put out one item of the Responses API, given in full: reasoning, compaction or whatever else
// needs no step of its own.
func Item(item json.RawMessage) Step {
	return step(func(_ context.Context, a *answer) error { return a.item(item) })
}

// Delay holds the answer back for a while. It is for a story that people watch and for pacing; a test that wants
// something to happen before the answer goes on uses a [Gate].
func Delay(d time.Duration) Step {
	return step(func(ctx context.Context, _ *answer) error { return wait(ctx, d) })
}

// Compute plays the steps that choose returns for the request that is being answered.
func Compute(choose func(Request) Reply) Step {
	return step(func(ctx context.Context, a *answer) error { return a.steps(ctx, choose(a.request)) })
}

// Usage is the number of tokens that the response reports, and as a step sets it. Codex 0.160.1 charges an active goal
// with Input less Cached plus Output.
type Usage struct {
	Input     int64 // of these, Cached were not new
	Cached    int64
	Output    int64 // of these, Reasoning were not shown
	Reasoning int64
}

// DefaultUsage is what a response reports whose reply has no [Usage] step.
var DefaultUsage = Usage{Input: 100, Output: 20}

func (u Usage) play(_ context.Context, a *answer) error {
	a.usage = &u
	return nil
}

func (u Usage) wire() map[string]any {
	return map[string]any{
		"input_tokens":          u.Input,
		"input_tokens_details":  map[string]any{"cached_tokens": u.Cached},
		"output_tokens":         u.Output,
		"output_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
		"total_tokens":          u.Input + u.Output,
	}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errGone
	}
}
