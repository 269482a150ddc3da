package main

import (
	"bytes"
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/protocolgen/internal/emit"
	"github.com/codexctl/codexctl/protocolgen/internal/load"
	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// small is a source of made-up bundles that use every construct the generator
// has a rule for.
func small(t *testing.T) *load.Source {
	t.Helper()
	stable, err := load.ReadBundle("testdata/small/stable.json", load.Strict)
	if err != nil {
		t.Fatal(err)
	}
	experimental, err := load.ReadBundle("testdata/small/experimental.json", load.Strict)
	if err != nil {
		t.Fatal(err)
	}
	return &load.Source{Version: "1.2.3", Stable: stable, Experimental: experimental}
}

func smallExceptions() *model.Exceptions {
	return &model.Exceptions{
		Results: map[string]model.Entry[string]{"reset": {Value: "ResetResponse", Reason: "takes no params"}},
		Names:   map[string]model.Entry[string]{"Color/BLUE": {Value: "CapitalBlue", Reason: "differs from blue in case alone"}},
		Arms: map[string]model.Entry[string]{
			"Content/0": {Value: "Text", Reason: "named after its member"},
			"Content/1": {Value: "Blob", Reason: "named after its member"},
		},
		Unions: map[string]model.Entry[[]model.Pick]{"Content": {Value: []model.Pick{
			{Has: []string{"text"}, Arm: "ContentText"},
			{Has: []string{"blob"}, Lacks: "text", Arm: "ContentBlob"},
		}, Reason: "told apart by their member"}},
		Deprecated: map[string]model.Entry[bool]{"link/down": {Value: true, Reason: "said elsewhere"}},
	}
}

func smallFiles(t *testing.T, o emit.Options) map[string][]byte {
	t.Helper()
	p, err := model.Build(small(t), smallExceptions())
	if err != nil {
		t.Fatal(err)
	}
	o.Package = "golden"
	files, err := emit.Files(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestSmallSchemaBecomesTheGoldenFiles(t *testing.T) {
	files := smallFiles(t, emit.Options{})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		golden(t, name, files[name])
	}
	again := smallFiles(t, emit.Options{})
	for name := range files {
		if !bytes.Equal(files[name], again[name]) {
			t.Errorf("%s differs when it is generated twice", name)
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (run with -update to accept):\n%s", name, diff)
	}
}

func TestDescriptionsOfCodexAppearOnRequestAlone(t *testing.T) {
	join := func(files map[string][]byte) string {
		var all strings.Builder
		for _, text := range files {
			all.Write(text)
		}
		return all.String()
	}
	for _, prose := range []string{"Sets a thing.", "The first.", "Not for everybody."} {
		if strings.Contains(join(smallFiles(t, emit.Options{})), prose) {
			t.Errorf("%q is copied without being asked for", prose)
		}
		if !strings.Contains(join(smallFiles(t, emit.Options{Descriptions: true})), prose) {
			t.Errorf("%q is missing although it was asked for", prose)
		}
	}
}

func TestCommittedTypesAreWhatTheGeneratorWrites(t *testing.T) {
	codex := codextest.Binary(t)
	dir := t.TempDir()
	stray := filepath.Join(dir, "gone_gen.go")
	if err := os.WriteFile(stray, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if err := run(context.Background(), []string{"-codex", codex, "-out", dir}, nil, &stderr); err != nil {
		t.Fatal(err)
	}
	committed := filepath.Join("..", "codex", "protocol")
	names := func(dir string) []string {
		list, err := filepath.Glob(filepath.Join(dir, "*_gen.go"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			list[i] = filepath.Base(list[i])
		}
		return list
	}
	if diff := cmp.Diff(names(dir), names(committed)); diff != "" {
		t.Fatalf("other files than those committed:\n%s", diff)
	}
	for _, name := range names(dir) {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(committed, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what Codex's schema gives: run go generate ./codex/protocol", name)
		}
	}
}

// The package was four times slower to compile when it had 42,000 generated
// lines, of which most were decoders that nobody needed.
func TestGeneratedCodeStaysSmallEnoughToCompileQuickly(t *testing.T) {
	const limit = 32_000
	list, err := filepath.Glob(filepath.Join("..", "codex", "protocol", "*_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	lines, size := 0, 0
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(text, []byte("\n"))
		size += len(text)
	}
	t.Logf("%d files, %d lines, %d bytes", len(list), lines, size)
	if lines > limit || lines == 0 {
		t.Errorf("%d generated lines, the limit is %d", lines, limit)
	}
}

func TestOnlyTheOneReleaseIsGeneratedFrom(t *testing.T) {
	dir := t.TempDir()
	fake := filepath.Join(dir, "codex")
	script := `#!/bin/sh
if [ "$1" = --version ]; then echo codex-cli 0.160.2; exit; fi
while [ "$1" != --out ]; do shift; done
mkdir -p "$2" && cp "` + abs(t, "testdata/small/experimental.json") + `" "$2/` + load.BundleFile + `"
`
	if err := os.WriteFile(fake, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	err := run(context.Background(), []string{"-codex", fake, "-out", dir}, nil, new(bytes.Buffer))
	if err == nil || !strings.Contains(err.Error(), "0.160.1") || !strings.Contains(err.Error(), "0.160.2") {
		t.Errorf("0.160.2: %v", err)
	}
	if list, _ := filepath.Glob(filepath.Join(dir, "*_gen.go")); len(list) > 0 {
		t.Errorf("it wrote %v nevertheless", list)
	}
}

func abs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
