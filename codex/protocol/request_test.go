package protocol_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

func TestEveryRequestIsAnsweredAsTheTableSays(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, r := range requests {
		if listed[r.method] {
			t.Errorf("%s is listed twice", r.method)
		}
		listed[r.method] = true
		if r.why != inside && r.fails == "" {
			t.Errorf("%s %s, so the table must call it with arguments that are refused", r.method, r.why)
		}
		if _, ok := protocol.LookupMethod(protocol.DirClientRequest, r.method); !ok {
			t.Errorf("%s is no client request", r.method)
		}
	}
	for m := range protocol.Methods() {
		if m.Direction == protocol.DirClientRequest && !listed[m.Name] {
			t.Errorf("%s is missing from the table", m.Name)
		}
	}

	model := codextest.StartModel(t, codextest.Always(codextest.Reply{codextest.Text("hello to you")}))
	home := codextest.TempHome(t, model, codextest.HomeOptions{})
	j := newJudge(t)
	s := startAppServer(t, home, j)
	s.initialize()
	thread := id(t, s.must("thread/start", `{}`), "thread")
	turn := id(t, s.must("turn/start", `{"threadId":"`+thread+`","input":[{"type":"text","text":"hello"}]}`), "turn")
	s.until(0, protocol.NotifyTurnCompleted)

	names := map[string]string{"$THREAD": thread, "$TURN": turn, "$WORK": home.Work, "$NOBODY": "0199d0c4-2ad1-7c01-9c5e-0c5b0a9f2f6a"}
	results, refusals := 0, 0
	for _, r := range requests {
		params := placeholder.ReplaceAllStringFunc(r.params, func(name string) string {
			if names[name] == "" {
				t.Fatalf("%s: nothing to put for %s", r.method, name)
			}
			return names[name]
		})
		m := s.call(r.method, asWeWrite(t, r.method, params))
		switch {
		case m.Error == nil && r.fails == "":
			results++
		case m.Error != nil && r.fails != "" && strings.Contains(m.Error.Message, r.fails):
			refusals++
		case m.Error != nil:
			t.Errorf("%s %s is refused with %d %q, the table says %q", r.method, params, m.Error.Code, m.Error.Message, r.fails)
		default:
			t.Errorf("%s %s has the result %s, the table says it is refused with %q", r.method, params, m.Result, r.fails)
		}
		switch r.method {
		case "thread/fork":
			names["$FORK"] = id(t, m.Result, "thread")
		case "threadSection/create":
			names["$SECTION"] = id(t, m.Result, "section")
		case "project/create":
			names["$PROJECT"] = id(t, m.Result, "project")
		}
	}
	j.report(t)
	t.Logf("%d requests: %d results decoded strictly, %d refusals", len(requests), results, refusals)
}

// asWeWrite is what the Go type of the params makes of them: the same, so that
// the real Codex judges our own encoding.
func asWeWrite(t *testing.T, method, params string) string {
	t.Helper()
	m, _ := protocol.LookupMethod(protocol.DirClientRequest, method)
	v := protocol.New(m.Params)
	if m.Params == "" {
		v = new(protocol.NoParams)
	} else if params == "null" { // a nil pointer, where the params may be missing
		return params
	}
	if err := protocol.Unmarshal([]byte(params), v); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	text := encode(t, v)
	if !equal(parse(t, text), parse(t, []byte(params))) {
		t.Errorf("%s: the params %s become %s", method, params, text)
	}
	return string(text)
}

var placeholder = regexp.MustCompile(`\$[A-Z]+`)

// id is the id of an object inside a result.
func id(t *testing.T, result json.RawMessage, member string) string {
	t.Helper()
	var r map[string]json.RawMessage
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatalf("%v in %s", err, result)
	}
	var object struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(r[member], &object); err != nil || object.ID == "" {
		t.Fatalf("no %s in %s", member, result)
	}
	return object.ID
}
