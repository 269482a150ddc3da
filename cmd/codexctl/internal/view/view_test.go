package view

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/codexctl/codexctl/goal"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func ptr[T any](v T) *T { return &v }

var states = map[string]State{
	"running": {
		Goal: goal.Active, Objective: "Fix the failing tests in the parser and say which of them were wrong all along",
		Turn: 3, Now: "running go test ./parser", Tokens: 12345, Budget: ptr[int64](50000), Elapsed: 187 * time.Second,
	},
	"starting": {Goal: goal.None, Objective: "Fix it", Now: "starting Codex"},
	"overspent": {
		Goal: goal.BudgetLimited, Objective: "Überprüfe die 漢字 🙂", Turn: 12, Tokens: 51000, Budget: ptr[int64](50000), Elapsed: 2 * time.Hour,
	},
	"no budget":   {Goal: goal.Complete, Objective: "one\ntwo\x1b[31m red", Turn: 1, Tokens: 999, Elapsed: time.Second},
	"prompt":      {Goal: goal.None, Prompt: true, Objective: "What is in here?", Turn: 1, Now: "thinking", Elapsed: 3 * time.Second},
	"unavailable": {Goal: goal.Unavailable, Elapsed: time.Minute},
}

func TestBlockLooksAsDrawn(t *testing.T) {
	for name, state := range states {
		for columns, suffix := range map[int]string{80: "80", 40: "40", 20: "20"} {
			for _, colour := range []bool{false, true} {
				file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+"-"+suffix)
				if colour {
					file += "-colour"
				}
				file += ".golden"
				got := strings.Join(Render(state, columns, colour), "\n") + "\n"
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("%s at %d columns, colour %v (-want +got):\n%s", name, columns, colour, diff)
				}
			}
		}
	}
}

func TestNoLineIsWiderThanTheTerminalOrMovesTheCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := State{
			Goal:      rapid.SampledFrom([]goal.State{goal.Active, goal.Blocked, goal.None, goal.Complete, "new"}).Draw(t, "state"),
			Objective: rapid.String().Draw(t, "objective"),
			Prompt:    rapid.Bool().Draw(t, "prompt"),
			Turn:      rapid.IntRange(0, 1<<40).Draw(t, "turn"),
			Now:       rapid.String().Draw(t, "now"),
			Tokens:    rapid.Int64Min(0).Draw(t, "tokens"),
			Elapsed:   time.Duration(rapid.Int64Min(0).Draw(t, "elapsed")),
		}
		if rapid.Bool().Draw(t, "budgeted") {
			s.Budget = ptr(rapid.Int64Min(0).Draw(t, "budget"))
		}
		columns := rapid.IntRange(minColumns, 200).Draw(t, "columns")
		lines := Render(s, columns, false)
		if len(lines) > 5 {
			t.Fatalf("%d lines", len(lines))
		}
		for _, line := range lines {
			if Width(line) > columns {
				t.Fatalf("%q takes %d of %d columns", line, Width(line), columns)
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) }) {
				t.Fatalf("%q holds a control character", line)
			}
		}
		for i, line := range Render(s, columns, true) {
			if unpainted(line) != lines[i] {
				t.Fatalf("colour changes the text: %q", line)
			}
		}
	})
}

func TestCleanedTextCannotSteerATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":                 "plain text",
		" a\r\nb\tc ":                "a b c",
		"\x1b]0;title\x07\x1b[2Jx":   "x",
		"\u202egnp.exe\u2066":        "gnp.exe",
		"\x9b31m\x00":                "31m",
		"👩\u200d🔧":                   "👩\u200d🔧",
		"bad \xff byte":              "bad byte",
		"e\u0301":                    "e\u0301",
		"\x1b\x1b\x1b":               "",
		"line one\n\n\n   line two ": "line one line two",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got, want := CleanLines("a\r\n\tb\x1b[1m\n"), "a\n b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCutCountsColumnsNotBytes(t *testing.T) {
	for _, row := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"}, {"longer", 5, "long…"}, {"漢字漢字", 8, "漢字漢字"}, {"漢字漢字", 7, "漢字漢…"},
		{"漢字", 3, "漢…"}, {"漢字", 2, "…"}, {"ab", 1, "…"}, {"ab", 0, ""},
	} {
		if got := Cut(row.in, row.n); got != row.want || Width(got) > row.n {
			t.Errorf("%q in %d: got %q, want %q", row.in, row.n, got, row.want)
		}
	}
}

func TestLineSaysAllInOneLine(t *testing.T) {
	got := Line(goal.Complete, "Fix\nthe tests", "1,234 tokens, 7s", 0, false)
	if want := "● complete: Fix the tests (1,234 tokens, 7s)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got = Line(goal.Complete, "Fix the tests in every package", "1,234 tokens, 7s", 40, true)
	if want := "\x1b[34m●\x1b[0m complete: Fix the … (1,234 tokens, 7s)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Line(goal.None, "", "", 80, false); got != "○ no goal" {
		t.Error(got)
	}
}

func TestScreenRedrawsInPlaceAndOnlyOnChange(t *testing.T) {
	var out strings.Builder
	columns := 80
	s := NewScreen(&out, func() int { return columns })
	step := func(err error, want string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("wrote %q, want %q", out.String(), want)
		}
		out.Reset()
	}
	step(s.Draw([]string{"one", "two"}), "one\ntwo\n")
	step(s.Draw([]string{"one", "two"}), "")
	step(s.Print("log"), "\x1b[2A\r\x1b[Jlog\none\ntwo\n")
	step(s.Draw([]string{"1234567890"}), "\x1b[2A\r\x1b[J1234567890\n")
	columns = 4 // the terminal wraps the block to three rows
	step(s.Draw([]string{"new"}), "\x1b[3A\r\x1b[Jnew\n")
	step(s.Clear(), "\x1b[1A\r\x1b[J")
	step(s.Clear(), "")
}
