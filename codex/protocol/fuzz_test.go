package protocol_test

import (
	"encoding/base64"
	stdjson "encoding/json"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/codex/protocol"
)

// FuzzUnion feeds any text to every kind of union: the reader must not panic, it
// must accept what go-json-experiment accepts and nothing else, and what it
// accepts must survive being written and read again.
func FuzzUnion(f *testing.F) {
	for _, row := range unions {
		f.Add(row.name, row.in)
	}
	for _, text := range []string{`{"type":"\u0070lan","id":"\ud83d\ude00","text":""}`, `{"type":"plan","type":"plan","id":"a","text":"b"}`, ` { "type" : "idle" } `, `{"type":"active","activeFlags":[`, "{\"type\":\"\xff\"}", `"\ud800"`, `-0`, `1e5`} {
		f.Add("ThreadItem", text)
		f.Add("RequestId", text)
		f.Add("CodexErrorInfo", text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		v := protocol.New(name)
		if v == nil {
			return
		}
		err := protocol.Unmarshal([]byte(text), v)
		if !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) {
			if err == nil {
				t.Fatalf("%s: accepted %q, which is not JSON", name, text)
			}
			return
		}
		other := protocol.New(name)
		if by := json.Unmarshal([]byte(text), other, jsontext.AllowDuplicateNames(true)); (by == nil) != (err == nil) {
			t.Fatalf("%s from %q: single pass says %v, go-json-experiment %v", name, text, err, by)
		}
		if err != nil {
			return
		}
		twice := !jsontext.Value(text).IsValid() // a member that is there twice
		for _, lib := range libraries {
			if twice && lib.name != "encoding/json" {
				continue
			}
			out, err := lib.marshal(v)
			if err != nil {
				t.Fatalf("%s from %q by %s: %v", name, text, lib.name, err)
			}
			back := protocol.New(name)
			if err := lib.unmarshal(out, back); err != nil {
				t.Fatalf("%s from %q by %s: wrote %q, which does not come back: %v", name, text, lib.name, out, err)
			}
			if !twice && !alike(v, back) {
				t.Fatalf("%s from %q by %s: %#v came back from %q as %#v", name, text, lib.name, v, out, back)
			}
		}
	})
}

// alike compares after one more trip, in which spelling no longer changes.
func alike(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, errX := json.Marshal(a, json.Deterministic(true))
	y, errY := json.Marshal(b, json.Deterministic(true))
	return errX == nil && errY == nil && string(x) == string(y)
}

// FuzzOpt checks that the three states survive both libraries.
func FuzzOpt(f *testing.F) {
	for _, text := range []string{``, `null`, ` null `, `0`, `-9223372036854775808`, `9223372036854775808`, `1.0`, `"x"`, `[null]`, `nul`, `{}`} {
		f.Add(text)
	}
	type holder struct {
		Number protocol.Opt[int64]              `json:"number,omitzero"`
		Text   protocol.Opt[string]             `json:"text,omitzero"`
		List   protocol.Opt[[]string]           `json:"list,omitzero"`
		Union  protocol.Opt[protocol.RequestId] `json:"union,omitzero"`
		Raw    protocol.Opt[jsontext.Value]     `json:"raw,omitzero"`
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, member := range []string{"number", "text", "list", "union", "raw"} {
			in := `{}`
			if text != "" {
				in = `{"` + member + `":` + text + `}`
			}
			var a, b holder
			errA := json.Unmarshal([]byte(in), &a)
			errB := stdjson.Unmarshal([]byte(in), &b)
			if errA != nil || errB != nil {
				continue
			}
			byExperiment, err := json.Marshal(a)
			if err != nil {
				t.Fatalf("%s: %v", in, err)
			}
			var back holder
			if err := json.Unmarshal(byExperiment, &back); err != nil {
				t.Fatalf("%s: wrote %s: %v", in, byExperiment, err)
			}
			if back.Number != a.Number || back.Text != a.Text || back.List.IsNull() != a.List.IsNull() || back.List.IsAbsent() != a.List.IsAbsent() ||
				back.Raw.IsNull() != a.Raw.IsNull() || back.Raw.IsAbsent() != a.Raw.IsAbsent() {
				t.Fatalf("%s: %+v came back as %+v", in, a, back)
			}
			byStandard, err := stdjson.Marshal(b)
			if err != nil {
				t.Fatalf("%s: %v", in, err)
			}
			if !equal(parse(t, byStandard), parse(t, byExperiment)) {
				t.Fatalf("%s: encoding/json wrote %s, go-json-experiment %s", in, byStandard, byExperiment)
			}
		}
	})
}

// FuzzNotification feeds any params to every notification.
func FuzzNotification(f *testing.F) {
	seeds := []string{`{}`, `null`, `[]`, `{"threadId":"t","turnId":"u","itemId":"i","delta":"d\n"}`,
		`{"threadId":"t","turn":{"id":"u","items":[{"type":"plan","id":"p","text":"t"}],"status":"completed","error":{"message":"m","codexErrorInfo":"other"}}}`,
		`{"threadId":"t","turnId":null,"goal":{"threadId":"t","objective":"o","status":"active","tokensUsed":1,"timeUsedSeconds":2,"createdAt":3,"updatedAt":4}}`}
	for m := range protocol.Methods() {
		if m.Direction == protocol.DirServerNotification {
			for _, seed := range seeds {
				f.Add(m.Name, []byte(seed))
			}
		}
	}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		n, err := protocol.DecodeNotification(method, params)
		if err != nil {
			return
		}
		if n.NotificationMethod() != method {
			t.Fatalf("%s decoded to %T of %s", method, n, n.NotificationMethod())
		}
		if _, unknown := n.(*protocol.UnknownNotification); unknown {
			return
		}
		if !jsontext.Value(params).IsValid(jsontext.AllowDuplicateNames(true)) {
			t.Fatalf("%s: accepted %s, which is not JSON", method, base64.StdEncoding.EncodeToString(params))
		}
	})
}
