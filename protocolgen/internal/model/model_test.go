package model_test

import (
	"strings"
	"testing"

	"github.com/codexctl/codexctl/protocolgen/internal/load"
	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

// build models a bundle that has the given definitions under v2.
func build(t *testing.T, definitions string, e *model.Exceptions) (*model.Package, error) {
	t.Helper()
	b, err := load.ParseBundle([]byte(`{"$schema":"x","title":"t","type":"object","definitions":{"v2":{`+definitions+`}}}`), load.Strict)
	if err != nil {
		return nil, err
	}
	return model.Build(&load.Source{Version: "1.2.3", Stable: b, Experimental: b}, e)
}

func TestWhatNoRuleCoversIsRefusedWithAReason(t *testing.T) {
	rows := []struct{ what, definitions, want string }{
		{"unknown keyword", `"A":{"type":"string","pattern":"x"}`, `"pattern"`},
		{"unknown keyword deep inside", `"A":{"type":"object","properties":{"b":{"type":"array","items":{"type":"string","maxLength":3}}}}`, "A"},
		{"dangling reference", `"A":{"type":"object","properties":{"b":{"$ref":"#/definitions/v2/B"}}}`, "B, which is not defined"},
		{"unknown format", `"A":{"type":"object","properties":{"b":{"type":"integer","format":"int7"}}}`, `"int7"`},
		{"unknown shape", `"A":{"type":"array","items":{"type":"string"}}`, "no rule"},
		{"object inside a member", `"A":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"string"}}}}}`, "A.b"},
		{"required but not described", `"A":{"type":"object","required":["b"]}`, `"b"`},
		{"two members with one name", `"A":{"type":"object","properties":{"ab_c":{"type":"string"},"abC":{"type":"string"}}}`, "both become AbC"},
		{"untagged objects without a rule", `"A":{"anyOf":[{"$ref":"#/definitions/v2/B"},{"$ref":"#/definitions/v2/C"}]},"B":{"type":"object"},"C":{"type":"object"}`, "unions table"},
		{"nameless arm", `"A":{"anyOf":[{"type":"object","properties":{"b":{"type":"string"}}},{"type":"string"}]}`, "arms table"},
		{"two arms with one name", `"A":{"oneOf":[{"type":"object","properties":{"type":{"type":"string","enum":["x/y"]}},"required":["type"]},{"type":"object","properties":{"type":{"type":"string","enum":["xY"]}},"required":["type"]}]}`, "names table"},
		{"value that takes a type's name", `"A":{"type":"string","enum":["b","c"]},"AB":{"type":"string"}`, "names table"},
		{"definition that takes a hand-written name", `"Opt":{"type":"string"}`, "hand-written Opt"},
		{"result that cannot be found", `"ClientRequest":{"oneOf":[{"type":"object","properties":{"method":{"type":"string","enum":["do"]}},"required":["method"]}]}`, "results table"},
	}
	for _, row := range rows {
		_, err := build(t, row.definitions, &model.Exceptions{})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: error %v does not say %q", row.what, err, row.want)
		}
	}
}

func TestAnExceptionNobodyNeedsIsAnError(t *testing.T) {
	const definitions = `"A":{"type":"string"}`
	if _, err := build(t, definitions, &model.Exceptions{}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*model.Exceptions{
		{Results: map[string]model.Entry[string]{"x": {Value: "A", Reason: "why"}}},
		{Names: map[string]model.Entry[string]{"x": {Value: "A", Reason: "why"}}},
		{Arms: map[string]model.Entry[string]{"x": {Value: "A", Reason: "why"}}},
		{Unions: map[string]model.Entry[[]model.Pick]{"x": {Reason: "why"}}},
		{Reads: map[string]model.Entry[bool]{"x": {Reason: "why"}}},
		{Deprecated: map[string]model.Entry[bool]{"x": {Reason: "why"}}},
	} {
		if _, err := build(t, definitions, e); err == nil || !strings.Contains(err.Error(), `"x" (why)`) {
			t.Errorf("unused exception: %v", err)
		}
	}
	if _, err := build(t, definitions, &model.Exceptions{Reads: map[string]model.Entry[bool]{"x": {}}}); err == nil || !strings.Contains(err.Error(), "no reason") {
		t.Errorf("exception without a reason: %v", err)
	}
}

func TestOneNameWithTwoMeaningsIsRefused(t *testing.T) {
	parse := func(top, nested string) error {
		_, err := load.ParseBundle([]byte(`{"definitions":{"A":`+top+`,"v2":{"A":`+nested+`}}}`), load.Strict)
		return err
	}
	if err := parse(`{"type":"string","title":"A","description":"said"}`, `{"type":"string"}`); err != nil {
		t.Errorf("annotations make no difference, but: %v", err)
	}
	if err := parse(`{"type":"string"}`, `{"type":"string","enum":["x"]}`); err == nil {
		t.Error("two shapes under one name were accepted")
	}
}

func TestGoNamesAreReadOffWireNames(t *testing.T) {
	for wire, want := range map[string]string{
		"thread/goal/set": "ThreadGoalSet", "threadId": "ThreadID", "imageUrl": "ImageURL", "mcp_tool": "McpTool",
		"DISABLED_BY_ADMIN": "DisabledByAdmin", "on-request": "OnRequest", "_meta": "Meta", "$schema": "Schema",
		"account/gatewayOAuth/read": "AccountGatewayOAuthRead", "httpStatusCode": "HTTPStatusCode", "apikey": "Apikey",
		"sha256": "Sha256", "threadIds": "ThreadIDs",
	} {
		if got := model.GoName(wire); got != want {
			t.Errorf("GoName(%q) = %q, want %q", wire, got, want)
		}
	}
}
