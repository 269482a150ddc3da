package codextest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Request is one request that Codex made to the model. What it says about the turn comes from the client_metadata
// entry "x-codex-turn-metadata", a JSON object inside a JSON string.
type Request struct {
	N       int    // the number of the request, from 1, in the order of arrival
	Thread  string // native thread id
	Turn    string // native turn id
	Trigger string // "goal" for a turn that Codex began by itself, "" for one of the user's, else what the client said
	Kind    string // what the request is for: "turn" in the ordinary case

	Model  string // the model asked for
	Effort string // reasoning effort, "" when none was given
	Tools  []string
	Input  []Input // the whole context, oldest first; the base instructions are not part of it

	Metadata json.RawMessage // the turn metadata in full
	Header   http.Header
	Body     json.RawMessage
}

// Input is one item of the context that the model is given.
type Input struct {
	Type   string // "message", "function_call", "function_call_output", "custom_tool_call", "reasoning" …
	Role   string // of a message: "user", "developer", "assistant"
	Name   string // of a call: the tool
	CallID string // of a call and its output
	Text   string // what a message says, a call passes or an output returns; parts are joined by newlines
	Raw    json.RawMessage
}

// Heard says whether the model was told text: whether it occurs in what Codex put into the context for it, be it a
// user's message, a goal, instructions or a tool's output, but not in what the model itself had said or called.
// Codex writes an objective with &, < and > escaped; text is looked for in both forms.
func (r Request) Heard(text string) bool {
	escaped := escape(text)
	return slices.ContainsFunc(r.Input, func(in Input) bool {
		return in.told() && (strings.Contains(in.Text, text) || strings.Contains(in.Text, escaped))
	})
}

// Objective returns the goal objective that the model was told last, "" if none: the text of the last <objective> or,
// after a live replacement, <untrusted_objective> element in a message.
func (r Request) Objective() string {
	for _, in := range slices.Backward(r.Input) {
		if in.Type != "message" || !in.told() || !strings.Contains(in.Text, `<codex_internal_context source="goal">`) {
			continue
		}
		for _, element := range []string{"untrusted_objective", "objective"} {
			_, rest, found := strings.Cut(in.Text, "<"+element+">\n")
			if !found {
				continue
			}
			// An objective cannot contain its own end tag: < is escaped.
			if text, _, found := strings.Cut(rest, "\n</"+element+">"); found {
				return unescape(text)
			}
		}
	}
	return ""
}

// Output returns what the tool call with the given id returned, and whether the model has been told.
func (r Request) Output(callID string) (string, bool) {
	for _, in := range r.Input {
		if in.CallID == callID && strings.HasSuffix(in.Type, "_output") {
			return in.Text, true
		}
	}
	return "", false
}

func (r Request) describe() string {
	return fmt.Sprintf("request %d (kind %q, trigger %q, turn %q)", r.N, r.Kind, r.Trigger, r.Turn)
}

func (in Input) told() bool {
	return in.Role != "assistant" && !strings.HasSuffix(in.Type, "_call")
}

var (
	escape   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace
)

func parseRequest(header http.Header, body []byte) (Request, error) {
	if encoding := header.Get("Content-Encoding"); encoding != "" {
		return Request{}, fmt.Errorf("the scripted model got a %s request; set features.enable_request_compression = false", encoding)
	}
	var wire struct {
		Model          string                        `json:"model"`
		Input          []json.RawMessage             `json:"input"`
		Tools          []struct{ Name, Type string } `json:"tools"`
		Reasoning      struct{ Effort string }       `json:"reasoning"`
		ClientMetadata map[string]json.RawMessage    `json:"client_metadata"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return Request{}, fmt.Errorf("read a request to the scripted model: %w", err)
	}
	r := Request{Model: wire.Model, Effort: wire.Reasoning.Effort, Header: header.Clone(), Body: body}
	for _, tool := range wire.Tools {
		name := tool.Name
		if name == "" {
			name = tool.Type
		}
		r.Tools = append(r.Tools, name)
	}
	for _, raw := range wire.Input {
		in, err := parseInput(raw)
		if err != nil {
			return Request{}, fmt.Errorf("read the input of a request to the scripted model: %w", err)
		}
		r.Input = append(r.Input, in)
	}
	if quoted, found := wire.ClientMetadata["x-codex-turn-metadata"]; found {
		var text string
		if err := json.Unmarshal(quoted, &text); err != nil {
			return Request{}, fmt.Errorf("read the turn metadata of a request to the scripted model: %w", err)
		}
		var metadata struct {
			Thread  string `json:"thread_id"`
			Turn    string `json:"turn_id"`
			Trigger string `json:"turn_trigger"`
			Kind    string `json:"request_kind"`
		}
		if err := json.Unmarshal([]byte(text), &metadata); err != nil {
			return Request{}, fmt.Errorf("read the turn metadata of a request to the scripted model: %w", err)
		}
		r.Thread, r.Turn, r.Trigger, r.Kind = metadata.Thread, metadata.Turn, metadata.Trigger, metadata.Kind
		r.Metadata = json.RawMessage(text)
	}
	return r, nil
}

func parseInput(raw json.RawMessage) (Input, error) {
	var wire struct {
		Type, Role, Name string
		CallID           string          `json:"call_id"`
		Content          json.RawMessage `json:"content"`
		Arguments        string          `json:"arguments"`
		Input            string          `json:"input"`
		Output           json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return Input{}, err
	}
	in := Input{Type: wire.Type, Role: wire.Role, Name: wire.Name, CallID: wire.CallID, Raw: raw}
	for _, part := range []string{spoken(wire.Content), wire.Arguments, wire.Input, spoken(wire.Output)} {
		if part != "" {
			in.Text = part
			break
		}
	}
	return in, nil
}

// spoken returns the text of a value that is either a string or a list of parts with a text.
func spoken(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var lines []string
	for _, part := range parts {
		if part.Text != "" {
			lines = append(lines, part.Text)
		}
	}
	return strings.Join(lines, "\n")
}
