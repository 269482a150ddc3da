package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSuiteIsCounted runs a small module through the real `go test -json`.
func TestSuiteIsCounted(t *testing.T) {
	const header = "package x\n\nimport \"testing\"\n\n"
	rows := []struct {
		name           string
		files          map[string]string
		passed, failed int
		shown, hidden  []string
	}{
		{
			"passing tests and subtests count once",
			map[string]string{"x_test.go": header + `
func TestA(t *testing.T) {}
func TestB(t *testing.T) { t.Run("one", func(t *testing.T) {}); t.Run("a/b", func(t *testing.T) { t.Log("quiet") }) }
func ExampleC() {
	// Output:
}`},
			5, 0, []string{"ok   m (", "ok   m/y ("}, []string{"quiet"},
		},
		{
			"a failed subtest is shown and its parents do not count",
			map[string]string{"x_test.go": header + `
func TestA(t *testing.T) { t.Run("good", func(t *testing.T) {}); t.Run("bad", func(t *testing.T) { t.Error("what went wrong") }) }
func TestB(t *testing.T) { t.Fatal("more of it") }`},
			2, 2, []string{"FAIL m TestA/bad\n", "what went wrong", "FAIL m TestB\n", "more of it", "FAIL m ("}, []string{"FAIL m TestA\n"},
		},
		{
			"a skipped test has not passed",
			map[string]string{"x_test.go": header + `func TestA(t *testing.T) { t.Skip("not today") }`},
			1, 1, []string{"SKIP m TestA\n", "not today"}, nil,
		},
		{
			"a package that does not build",
			map[string]string{"x_test.go": header + `func TestA(t *testing.T) { undefined() }`},
			1, 1, []string{"FAIL m\n", "undefined: undefined"}, nil,
		},
		{
			"a package that dies in the middle of a test",
			map[string]string{"x_test.go": header + `
func TestA(t *testing.T) {}
func TestB(t *testing.T) { go func() { panic("lost") }(); select {} }`},
			2, 1, []string{"lost"}, nil,
		},
		{
			"a package that fails after its tests",
			map[string]string{"x_test.go": "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n" + `
func TestA(t *testing.T) {}
func TestMain(m *testing.M) { m.Run(); println("leak"); os.Exit(1) }`},
			2, 1, []string{"FAIL m\n", "leak"}, nil,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			row.files["go.mod"] = "module m\n\ngo 1.26\n"
			row.files["y/y_test.go"] = "package y\n\nimport \"testing\"\n\nfunc TestY(t *testing.T) {}\n"
			row.files["z/z.go"] = "package z\n"
			for name, text := range row.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("go", "test", "-json", "-vet=off", "./...")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
			events, err := cmd.Output()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			var out bytes.Buffer
			got, err := run(bytes.NewReader(events), &out)
			if err != nil {
				t.Fatal(err)
			}
			if got.passed != row.passed || got.failed != row.failed {
				t.Errorf("%d passed, %d failed; want %d and %d", got.passed, got.failed, row.passed, row.failed)
			}
			for _, want := range row.shown {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the report lacks %q", want)
				}
			}
			for _, unwanted := range row.hidden {
				if strings.Contains(out.String(), unwanted) {
					t.Errorf("the report has %q", unwanted)
				}
			}
			if t.Failed() {
				t.Logf("report:\n%s", out.String())
			}
		})
	}
}
