package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/protocolgen/internal/load"
	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

// Codex describes its protocol twice, as JSON Schema and as TypeScript, with two
// different libraries. Where they disagree on a name it is the TypeScript that
// says what is on the wire, as far as it was tried.
func TestTypeScriptOfCodexHasNoMemberThatTheTypesLack(t *testing.T) {
	codex := codextest.Binary(t)
	source, err := load.FromExecutable(t.Context(), codex, load.Strict)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Build(source, model.Codex())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(codex, "app-server", "generate-ts", "--experimental", "--out", dir)
	cmd.Env = append(os.Environ(), "CODEX_HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	compared := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		definition := p.Type(strings.TrimSuffix(d.Name(), ".ts"))
		if definition == nil || definition.Rest {
			return nil
		}
		// Some types have a twin of the older generation beside v2.
		if _, err := os.Stat(filepath.Join(dir, "v2", d.Name())); err == nil && filepath.Base(filepath.Dir(path)) != "v2" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		compared++
		known := wireNames(definition)
		for _, m := range member.FindAllStringSubmatch(comments.ReplaceAllString(string(text), ""), -1) {
			if name := m[1] + m[2]; !known[name] {
				t.Errorf("%s has a member %s in TypeScript, which the Go type lacks", definition.Name, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d definitions compared", compared)
	if compared < len(p.Types)*9/10 {
		t.Errorf("only %d of %d definitions are there in TypeScript", compared, len(p.Types))
	}
}

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	member   = regexp.MustCompile(`(?:"([^"]+)"|([A-Za-z_$][\w$]*))\??:`)
)

// wireNames are all member names that occur in a definition.
func wireNames(t *model.Type) map[string]bool {
	names := map[string]bool{}
	add := func(fields []*model.Field) {
		for _, f := range fields {
			names[f.Wire] = true
		}
	}
	add(t.Fields)
	if t.Union == nil {
		return names
	}
	names[t.Union.Tag] = true
	for _, a := range t.Union.Arms {
		add(a.Fields)
		names[a.Wire] = true
	}
	return names
}
