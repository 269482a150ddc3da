package protocol_test

import (
	stdjson "encoding/json"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/codexctl/codexctl/codex/protocol"
)

// libraries are the two ways to write and read a value.
var libraries = []struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}{
	{"encoding/json", stdjson.Marshal, stdjson.Unmarshal},
	{"go-json-experiment", func(v any) ([]byte, error) { return json.Marshal(v) }, func(b []byte, v any) error { return json.Unmarshal(b, v) }},
}

func TestTokenBudgetIsKeptClearedOrSet(t *testing.T) {
	for _, row := range []struct {
		budget protocol.Opt[int64]
		want   string
	}{
		{protocol.Opt[int64]{}, `{"threadId":"t"}`},
		{protocol.Null[int64](), `{"threadId":"t","tokenBudget":null}`},
		{protocol.Some[int64](7), `{"threadId":"t","tokenBudget":7}`},
		{protocol.Some[int64](0), `{"threadId":"t","tokenBudget":0}`},
	} {
		roundTripTriState(t, protocol.ThreadGoalSetParams{ThreadID: "t", TokenBudget: row.budget}, row.want,
			func(p protocol.ThreadGoalSetParams) protocol.Opt[int64] { return p.TokenBudget }, row.budget)
	}
}

func TestServiceTierIsKeptClearedOrSet(t *testing.T) {
	for _, row := range []struct {
		tier protocol.Opt[string]
		want string
	}{
		{protocol.Opt[string]{}, `{"threadId":"t"}`},
		{protocol.Null[string](), `{"serviceTier":null,"threadId":"t"}`},
		{protocol.Some("fast"), `{"serviceTier":"fast","threadId":"t"}`},
		{protocol.Some(""), `{"serviceTier":"","threadId":"t"}`},
	} {
		roundTripTriState(t, protocol.ThreadSettingsUpdateParams{ThreadID: "t", ServiceTier: row.tier}, row.want,
			func(p protocol.ThreadSettingsUpdateParams) protocol.Opt[string] { return p.ServiceTier }, row.tier)
	}
}

func roundTripTriState[T any, V comparable](t *testing.T, v T, want string, field func(T) protocol.Opt[V], state protocol.Opt[V]) {
	t.Helper()
	for _, lib := range libraries {
		text, err := lib.marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != want {
			t.Errorf("%s wrote %s, want %s", lib.name, text, want)
		}
		var back T
		if err := lib.unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if field(back) != state {
			t.Errorf("%s read %+v from %s, want %+v", lib.name, field(back), text, state)
		}
	}
}

func TestTypesThatTravelBothWaysKeepNullApartFromAbsent(t *testing.T) {
	rows := []struct{ name, member, value string }{
		{"AdditionalFileSystemPermissions", "globScanMaxDepth", "3"},
		{"AdditionalNetworkPermissions", "enabled", "true"},
		{"ExternalAgentConfigImportItemTypeFailure", "subErrorType", `"x"`},
		{"ExternalAgentConfigMigrationItem", "cwd", `"/x"`},
		{"SessionMigration", "title", `"x"`},
		{"Settings", "developer_instructions", `"x"`},
		{"TextElement", "placeholder", `"x"`},
		{"ThreadRealtimeAudioChunk", "itemId", `"x"`},
		{"ThreadSectionAppearance", "icon", `"x"`},
	}
	for _, row := range rows {
		for _, lib := range libraries {
			for _, value := range []string{"", "null", row.value} {
				in := "{}"
				if value != "" {
					in = `{"` + row.member + `":` + value + `}`
				}
				v := protocol.New(row.name)
				if err := lib.unmarshal([]byte(in), v); err != nil {
					t.Errorf("%s by %s: %v", row.name, lib.name, err)
					continue
				}
				text, err := lib.marshal(v)
				if err != nil {
					t.Errorf("%s by %s: %v", row.name, lib.name, err)
					continue
				}
				got, there := parse(t, text).(map[string]any)[row.member]
				if there != (value != "") || there && string(encode(t, got)) != value {
					t.Errorf("%s by %s: %s came back as %s", row.name, lib.name, in, text)
				}
			}
		}
	}
}

func TestNullFromTheServerIsNilAndRequiredNullIsWritten(t *testing.T) {
	for _, lib := range libraries {
		for _, in := range []string{`{}`, `{"goal":null}`} {
			var r protocol.ThreadGoalGetResponse
			if err := lib.unmarshal([]byte(in), &r); err != nil || r.Goal != nil {
				t.Errorf("%s: %s gives %+v, %v", lib.name, in, r.Goal, err)
			}
		}
		text, err := lib.marshal(protocol.ThreadSectionMoveParams{ThreadID: "t"})
		if err != nil || parse(t, text).(map[string]any)["sectionId"] != nil || !has(parse(t, text), "sectionId") {
			t.Errorf("%s wrote %s, %v; want sectionId null", lib.name, text, err)
		}
	}
}

func has(v any, member string) bool {
	_, ok := v.(map[string]any)[member]
	return ok
}

func TestOptSaysWhichOfTheThreeItIs(t *testing.T) {
	for _, row := range []struct {
		opt          protocol.Opt[string]
		value        string
		ok           bool
		null, absent bool
	}{
		{protocol.Opt[string]{}, "", false, false, true},
		{protocol.Null[string](), "", false, true, false},
		{protocol.Some("v"), "v", true, false, false},
	} {
		v, ok := row.opt.Get()
		if v != row.value || ok != row.ok || row.opt.IsNull() != row.null || row.opt.IsAbsent() != row.absent || row.opt.IsZero() != row.absent {
			t.Errorf("%+v: Get %q %v, null %v, absent %v", row.opt, v, ok, row.opt.IsNull(), row.opt.IsAbsent())
		}
	}
	if got := protocol.Null[string]().Or("fallback"); got != "fallback" {
		t.Errorf("Or of null: %q", got)
	}
	if got := protocol.Some("v").Or("fallback"); got != "v" {
		t.Errorf("Or of a value: %q", got)
	}
}

func TestOptWorksInsideListsAndMaps(t *testing.T) {
	const in = `{"command":["x"],"env":{"A":"1","B":null}}`
	for _, lib := range libraries {
		var p protocol.CommandExecParams
		if err := lib.unmarshal([]byte(in), &p); err != nil {
			t.Fatal(err)
		}
		env, ok := p.Env.Get()
		if !ok || env["A"] != protocol.Some("1") || !env["B"].IsNull() {
			t.Errorf("%s: %+v", lib.name, p.Env)
		}
		text, err := lib.marshal(p)
		if err != nil || !equal(parse(t, text), parse(t, []byte(in))) {
			t.Errorf("%s: %s, %v", lib.name, text, err)
		}
	}
}
