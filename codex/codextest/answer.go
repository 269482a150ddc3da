package codextest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// A Reply is what one request is answered with: steps played one after the other. After the last one an open message is
// finished and the response is completed, unless a step has ended it in another way.
type Reply []Step

// A Step is one thing that the model does while it answers. The constructors of this package make them, and [Gate] and
// [Usage] are steps themselves.
type Step interface {
	play(ctx context.Context, a *answer) error
}

// step makes a Step of a function.
type step func(ctx context.Context, a *answer) error

func (s step) play(ctx context.Context, a *answer) error { return s(ctx, a) }

// errGone ends an answer that nobody reads any more: Codex hung up, as it does on an interrupt, or the model closed.
var errGone = errors.New("the request is gone")

// errAfterEnd reports a step behind one that ended the response.
var errAfterEnd = errors.New("the response had ended before the last step of its reply")

// answer is the response to one request while it is being written.
type answer struct {
	model   *Model
	request Request
	w       http.ResponseWriter
	flush   func() error

	began, ended bool
	items        int      // output items begun so far
	message      *message // the message that text goes to, nil if none is open
	usage        *Usage   // nil until a step sets it
}

// message is an assistant message of which Codex has seen only a part.
type message struct {
	id    string
	index int
	text  strings.Builder
}

// play answers the request. It returns errGone when the reader has gone; any other error means that the reply is wrong.
func (a *answer) play(ctx context.Context, reply Reply) error {
	if err := a.steps(ctx, reply); err != nil || a.ended {
		return err
	}
	return a.complete()
}

func (a *answer) steps(ctx context.Context, reply Reply) error {
	for _, s := range reply {
		if a.ended {
			return errAfterEnd
		}
		if s == nil {
			return errors.New("a step of the reply is nil")
		}
		if err := s.play(ctx, a); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errGone
		}
	}
	return nil
}

// event writes one server-sent event. The first one is preceded by the headers and response.created, as late as that,
// so that a reply may wait first and still answer with an HTTP error.
func (a *answer) event(name string, fields map[string]any) error {
	if !a.began {
		a.began = true
		header := a.w.Header()
		header.Set("Content-Type", "text/event-stream")
		header.Set("Cache-Control", "no-store")
		created := map[string]any{"response": map[string]any{"id": a.responseID()}}
		if err := a.event("response.created", created); err != nil {
			return err
		}
	}
	fields["type"] = name
	data, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	if _, err := fmt.Fprintf(a.w, "event: %s\ndata: %s\n\n", name, data); err != nil {
		return errGone
	}
	if err := a.flush(); err != nil {
		return errGone
	}
	return nil
}

// say appends to the open message, opening one first if need be.
func (a *answer) say(delta string) error {
	if a.message == nil {
		index := a.items
		a.message = &message{index: index, id: a.itemID("msg")}
		item := map[string]any{"type": "message", "role": "assistant", "id": a.message.id, "content": []any{}}
		if err := a.event("response.output_item.added", map[string]any{"output_index": a.message.index, "item": item}); err != nil {
			return err
		}
	}
	a.message.text.WriteString(delta)
	return a.event("response.output_text.delta", map[string]any{
		"item_id": a.message.id, "output_index": a.message.index, "content_index": 0, "delta": delta,
	})
}

// finishMessage ends the open message, if there is one.
func (a *answer) finishMessage() error {
	open := a.message
	if open == nil {
		return nil
	}
	a.message = nil
	return a.event("response.output_item.done", map[string]any{
		"output_index": open.index,
		"item": map[string]any{
			"type": "message", "role": "assistant", "id": open.id,
			"content": []any{map[string]any{"type": "output_text", "text": open.text.String()}},
		},
	})
}

// item writes one whole output item. Codex 0.160.1 acts on the done event; the added event announces it.
func (a *answer) item(item any) error {
	if err := a.finishMessage(); err != nil {
		return err
	}
	index := a.items
	a.items++
	if err := a.event("response.output_item.added", map[string]any{"output_index": index, "item": item}); err != nil {
		return err
	}
	return a.event("response.output_item.done", map[string]any{"output_index": index, "item": item})
}

func (a *answer) complete() error {
	if err := a.finishMessage(); err != nil {
		return err
	}
	usage := DefaultUsage
	if a.usage != nil {
		usage = *a.usage
	}
	a.ended = true
	return a.event("response.completed", map[string]any{
		"response": map[string]any{"id": a.responseID(), "usage": usage.wire()},
	})
}

// itemID names the next output item. Codex keeps these ids in its history, so no two may be the same, not even when a
// second model goes on with the first one's thread.
func (a *answer) itemID(prefix string) string {
	a.items++
	return fmt.Sprintf("%s_%d_%d_%d", prefix, a.model.number, a.request.N, a.items)
}

func (a *answer) responseID() string {
	return fmt.Sprintf("resp_%d_%d", a.model.number, a.request.N)
}
