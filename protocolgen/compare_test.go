package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/protocolgen/internal/diff"
	"github.com/codexctl/codexctl/protocolgen/internal/load"
)

// user is a module whose code uses a part of the small protocol.
const user = `package user

import wire "example.org/golden"

func use(t wire.Thing) string {
	_ = wire.ThingReadMethod
	_ = wire.ShapeCircle{Radius: 1}
	return *t.OldName
}
`

func smallDiff(t *testing.T) *diff.Report {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "user.go"), []byte(user), 0o644); err != nil {
		t.Fatal(err)
	}
	uses, err := diff.Scan(root, "example.org/golden")
	if err != nil {
		t.Fatal(err)
	}
	newer, err := load.ReadBundle("testdata/small/newer.json", load.Lenient)
	if err != nil {
		t.Fatal(err)
	}
	return diff.Compare(small(t), &load.Source{Experimental: newer}, uses)
}

func TestDifferencesAreOnePageWithWhatWeUseFirst(t *testing.T) {
	var page bytes.Buffer
	if err := smallDiff(t).Page(&page); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.txt", page.Bytes())
}

func TestDifferencesComeAsJSONToo(t *testing.T) {
	var out bytes.Buffer
	err := run(context.Background(), []string{"-diff", "testdata/small/experimental.json", "testdata/small/newer.json", "--json"}, &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	var r diff.Report
	if err := json.Unmarshal(out.Bytes(), &r, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	want := diff.Change{What: diff.Retyped, Name: "Thing.count", Was: "uint32, required", Is: "uint64, required"}
	found := false
	for _, c := range r.Types {
		found = found || c == want
	}
	if !found {
		t.Errorf("%+v is not among %+v", want, r.Types)
	}
	if r.New.Methods != 8 || r.Old.Methods != 8 {
		t.Errorf("methods %d and %d", r.Old.Methods, r.New.Methods)
	}
}

func TestACodexDoesNotDifferFromItself(t *testing.T) {
	codex := codextest.Binary(t)
	source, err := load.FromExecutable(t.Context(), codex, load.Lenient)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := run(t.Context(), []string{"-diff", codex, codex}, &page, &page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "No difference on the wire.") || !strings.Contains(page.String(), source.Version) {
		t.Errorf("page:\n%s", page.String())
	}
}

func TestComparisonNeedsTwoProtocols(t *testing.T) {
	empty := t.TempDir()
	for _, args := range [][]string{
		{"-diff"}, {"-diff", "testdata/small/newer.json"}, {"-diff", "a", "b", "c"},
		{"-diff", "missing.json", "testdata/small/newer.json"}, {"-diff", empty, empty}, {"stray"}, {"-nonsense"},
	} {
		var out bytes.Buffer
		if err := run(context.Background(), args, &out, &out); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
