package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// jsonNames collects the field names and event names that a package's sources
// write to JSON.
func jsonNames(t *testing.T, dir string) (fields []string, events []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if n.Tag == nil {
					return true
				}
				tag, err := strconv.Unquote(n.Tag.Value)
				if err != nil {
					t.Fatal(err)
				}
				if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name != "" {
					fields = append(fields, name)
				}
			case *ast.FuncDecl:
				if n.Name.Name != "EventName" {
					return true
				}
				if ret, ok := n.Body.List[0].(*ast.ReturnStmt); ok {
					if lit, ok := ret.Results[0].(*ast.BasicLit); ok {
						events = append(events, strings.Trim(lit.Value, `"`))
					}
				}
			}
			return true
		})
	}
	return fields, events
}

func TestJSONTopicNamesEveryFieldAndEvent(t *testing.T) {
	internal := map[string]bool{"digest": true, "codex_approval_kind": true} // of the journal and of Codex
	for _, dir := range []string{".", "../../codex/control", "../../goal"} {
		fields, events := jsonNames(t, dir)
		for _, name := range append(fields, events...) {
			if !internal[name] && !regexp.MustCompile(`(^|[^a-z_.])`+regexp.QuoteMeta(name)+`($|[^a-z_.])`).MatchString(topicJSON) {
				t.Errorf("%s: help json does not name %q", dir, name)
			}
		}
	}
}

func TestHelpFitsATerminalAndExitsWell(t *testing.T) {
	help := func(args ...string) {
		t.Helper()
		var out bytes.Buffer
		s := streams{in: strings.NewReader(""), out: &outlet{w: &out}, err: &outlet{w: io.Discard}, env: func(string) string { return "" }}
		if code := execute(t.Context(), s, append(args, "--help")); code != exitOK {
			t.Errorf("%v --help: exit code %d", args, code)
		}
		if out.Len() == 0 {
			t.Errorf("%v --help says nothing", args)
		}
	}
	for _, c := range newRoot(streams{}).Commands() {
		help(c.Name())
	}
	for _, topic := range []string{topicExitCodes, topicJSON, topicEnvironment} {
		for line := range strings.Lines(topic) {
			if len([]rune(line)) > 92 {
				t.Errorf("%d columns: %q", len([]rune(line)), line)
			}
		}
	}
	var out bytes.Buffer
	s := streams{in: os.Stdin, out: &outlet{w: &out}, err: &outlet{w: io.Discard}, env: func(string) string { return "" }}
	if code := execute(t.Context(), s, []string{"help", "exit-codes"}); code != exitOK || !strings.Contains(out.String(), "8  delivery unknown") {
		t.Errorf("help exit-codes: %d\n%s", code, out.String())
	}
}
