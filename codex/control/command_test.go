package control

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/codexctl/codexctl/codex/protocol"
)

func budgets() cmp.Option {
	return cmp.Comparer(func(a, b protocol.Opt[int64]) bool { return a == b })
}

func TestEveryCommandSurvivesTheWire(t *testing.T) {
	for _, want := range []Command{
		{ID: "a", Name: GoalSet, Text: "Fix\nthe <tests> & \u2028 \"quotes\"", Budget: protocol.Some(int64(5000))},
		{ID: "b", Name: GoalSet, Text: "x"},
		{ID: "c", Name: GoalEdit, Text: "x", Budget: protocol.Null[int64]()},
		{ID: "d", Name: GoalEdit, Budget: protocol.Null[int64]()},
		{ID: "e", Name: GoalResume, Budget: protocol.Some(int64(1))},
		{ID: "f", Name: GoalPause}, {ID: "g", Name: GoalClear}, {ID: "h", Name: GoalShow},
		{ID: "i", Name: Prompt, Text: "🙂"}, {ID: "j", Name: Steer, Text: "x"},
		{ID: "k", Name: Stop}, {ID: "l", Name: Stop, Owner: true}, {ID: "m", Name: Status}, {ID: "n", Name: CommandsList},
	} {
		line, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(line), "\n") != 1 {
			t.Errorf("%s is not one line", line)
		}
		got, err := ParseCommand(line[:len(line)-1])
		if diff := cmp.Diff(want, got, budgets()); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", line, err, diff)
		}
	}
}

func TestLinesThatAreNoCommandAreMalformed(t *testing.T) {
	const format = `"format":"codexctl.command/1"`
	for _, row := range []struct{ line, id, reason string }{
		{`nonsense`, "-", "not a JSON object"},
		{`[1]`, "-", "not a JSON object"},
		{`null`, "-", "not a JSON object"},
		{`{` + format + `,"command":"status"}`, "-", "id must be"},
		{`{` + format + `,"id":"","command":"status"}`, "-", "id must be"},
		{`{` + format + `,"id":"-","command":"status"}`, "-", "id must be"},
		{`{` + format + `,"id":7,"command":"status"}`, "-", "id must be"},
		{`{` + format + `,"ID":"x","command":"status"}`, "-", "id must be"},
		{`{` + format + `,"id":"x","id":"y","command":"status"}`, "-", "not a JSON object"},
		{"{" + format + ",\"id\":\"x\xff\",\"command\":\"status\"}", "-", "not a JSON object"},
		{`{` + format + `,"id":"x","command":"status"} {}`, "-", "not a JSON object"},
		{`{"id":"x","command":"status"}`, "x", "format must be"},
		{`{"format":"codexctl.command/2","id":"x","command":"status"}`, "x", "format must be"},
		{`{"format":"metaharness.command/1","id":"x","command":"halt"}`, "x", "format must be"},
		{`{` + format + `,"id":"x"}`, "x", "command must be a string"},
		{`{` + format + `,"id":"x","command":["status"]}`, "x", "command must be a string"},
		{`{` + format + `,"id":"x","command":"goal.eat"}`, "x", `no command "goal.eat"`},
		{`{` + format + `,"id":"x","command":"goal.set"}`, "x", "text must not be blank"},
		{`{` + format + `,"id":"x","command":"goal.set","text":" \n"}`, "x", "text must not be blank"},
		{`{` + format + `,"id":"x","command":"goal.set","text":5}`, "x", "text does not fit"},
		{`{` + format + `,"id":"x","command":"goal.set","text":"a","token_budget":1.5}`, "x", "token_budget does not fit"},
		{`{` + format + `,"id":"x","command":"goal.set","text":"a","token_budget":0}`, "x", "must be positive"},
		{`{` + format + `,"id":"x","command":"goal.edit"}`, "x", "text, token_budget or both"},
		{`{` + format + `,"id":"x","command":"stop","owner":"yes"}`, "x", "owner does not fit"},
	} {
		got, err := ParseCommand([]byte(row.line))
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Code != Malformed || got.ID != row.id || !strings.Contains(refusal.Reason, row.reason) {
			t.Errorf("%s: got id %q, %v; want id %q, %s", row.line, got.ID, err, row.id, row.reason)
		}
	}
}

func TestFieldsACommandDoesNotTakeAreIgnored(t *testing.T) {
	line := `{"format":"codexctl.command/1","id":"x","command":"status","text":5,"later":{"a":1}}`
	if got, err := ParseCommand([]byte(line)); err != nil || got.Name != Status {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzParsedCommandsAreWhatTheyEncodeTo(f *testing.F) {
	f.Add([]byte(`{"format":"codexctl.command/1","id":"x","command":"goal.set","text":"a","token_budget":null}`))
	f.Add([]byte(`{"format":"codexctl.command/1","id":"x","command":"stop","owner":true}`))
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c, err := ParseCommand(line)
		if err != nil {
			var refusal *Refusal
			if !errors.As(err, &refusal) || strings.ContainsRune(refusal.Reason, '\n') {
				t.Fatalf("%q: %v", line, err)
			}
			return
		}
		again, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseCommand(again[:len(again)-1])
		if diff := cmp.Diff(c, back, budgets()); err != nil || diff != "" {
			t.Fatalf("%s: %v\n%s", again, err, diff)
		}
	})
}
