package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/codexctl/codexctl/protocolgen/internal/load"
)

// The bundles under testdata/drift are parts of what later releases print: definitions that together use every schema
// keyword of the release in every form, without titles and descriptions.
func TestLaterReleasesAreCompared(t *testing.T) {
	bundles, err := filepath.Glob("testdata/drift/*.json")
	if err != nil || len(bundles) < 2 {
		t.Fatal(bundles, err)
	}
	for _, bundle := range bundles {
		for _, operands := range [][]string{{"testdata/small/experimental.json", bundle}, {bundle, "testdata/small/experimental.json"}} {
			var page bytes.Buffer
			if err := run(t.Context(), append([]string{"-diff"}, operands...), &page, &page); err != nil {
				t.Errorf("%v: %v", operands, err)
			}
		}
	}
}

func TestAKeywordThatIsNotUnderstoodIsALineOfTheReport(t *testing.T) {
	var page bytes.Buffer
	if err := run(t.Context(), []string{"-diff", "testdata/drift/0.169.0.json", "testdata/drift/0.171.0.json"}, &page, &page); err != nil {
		t.Fatal(err)
	}
	const want = "+ AgentMessageDisplay[#0].version enum: keyword not understood: [1]"
	if !strings.Contains(page.String(), want) {
		t.Errorf("no line %q in\n%s", want, page.String())
	}
}

func TestAGeneratorRefusesWhatItDoesNotUnderstand(t *testing.T) {
	_, err := load.ReadBundle("testdata/drift/0.171.0.json", load.Strict)
	if err == nil || !strings.Contains(err.Error(), `AgentMessageDisplay[#0].version has the schema keyword "enum": [1]`) {
		t.Errorf("error %v", err)
	}
	if _, err := load.ReadBundle("testdata/drift/0.169.0.json", load.Strict); err != nil {
		t.Errorf("every keyword of this one is known: %v", err)
	}
}

// Each form that a keyword can have and a schema cannot hold, in each place where a schema can stand.
func TestUnreadKeywordsAreFoundWhereverTheyStand(t *testing.T) {
	const odd = `{"const":1,"enum":[1],"required":"a","items":[{}],"minimum":"1"}`
	b, err := load.ParseBundle([]byte(`{"future":[],"definitions":{"v2":{"A":{
		"type":"object","properties":{"p":`+odd+`},"items":`+odd+`,"additionalProperties":`+odd+`,
		"oneOf":[`+odd+`],"anyOf":[`+odd+`],"allOf":[`+odd+`],"if":true}}}}`), load.Lenient)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string][]string{}
	load.EachUnread("A", b.Definitions["A"], func(path, keyword string, _ jsontext.Value) {
		places[path] = append(places[path], keyword)
	})
	all := []string{"const", "enum", "items", "minimum", "required"}
	want := map[string][]string{"A": {"if"}, "A.p": all, "A[]": all, "A{}": all, "A[#0]": append(append(append([]string{}, all...), all...), all...)}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
	if got := string(b.Unread["future"]); got != "[]" {
		t.Errorf("beside the definitions: %q", got)
	}
}
