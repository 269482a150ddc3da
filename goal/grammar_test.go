package goal_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/codexctl/codexctl/goal"
)

func TestSlashLinesAreReadAsOneText(t *testing.T) {
	for line, want := range map[string]goal.Command{
		"/goal":                       {Action: goal.Show},
		"  /goal \t":                  {Action: goal.Show},
		"/goal pause":                 {Action: goal.Pause},
		"/goal   resume\n":            {Action: goal.Resume},
		"/goal clear":                 {Action: goal.Clear},
		"/goal edit Fix  the tests":   {Action: goal.Edit, Text: "Fix  the tests"},
		"/goal edit\nFix":             {Action: goal.Edit, Text: "Fix"},
		"/goal Fix the tests ":        {Action: goal.Set, Text: "Fix the tests"},
		"/goal clear the backlog":     {Action: goal.Set, Text: "clear the backlog"},
		"/goal pause for thought":     {Action: goal.Set, Text: "pause for thought"},
		"/goal Pause":                 {Action: goal.Set, Text: "Pause"},
		"/goal pause.":                {Action: goal.Set, Text: "pause."},
		"/goal editorial":             {Action: goal.Set, Text: "editorial"},
		"/goal show":                  {Action: goal.Set, Text: "show"},
		"/goal\nline one\n\nline two": {Action: goal.Set, Text: "line one\n\nline two"},
		"/goal /goal":                 {Action: goal.Set, Text: "/goal"},
	} {
		if got, err := goal.ParseLine(line); err != nil || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", line, got, err, want)
		}
	}
}

func TestOtherLinesAreNotGoalCommands(t *testing.T) {
	for _, line := range []string{"", "goal", "/goals", "/goal-x", "/go", "fix /goal", "/Goal pause", "//goal"} {
		if got, err := goal.ParseLine(line); !errors.Is(err, goal.ErrNotGoal) {
			t.Errorf("%q: got %+v, %v; want ErrNotGoal", line, got, err)
		}
	}
}

func TestArgumentsAreReadByTheirQuoting(t *testing.T) {
	for _, row := range []struct {
		args []string
		want goal.Command
	}{
		{nil, goal.Command{Action: goal.Show}},
		{[]string{"pause"}, goal.Command{Action: goal.Pause}},
		{[]string{" resume "}, goal.Command{Action: goal.Resume}},
		{[]string{"clear"}, goal.Command{Action: goal.Clear}},
		{[]string{"clear the backlog"}, goal.Command{Action: goal.Set, Text: "clear the backlog"}},
		{[]string{"edit the README"}, goal.Command{Action: goal.Set, Text: "edit the README"}},
		{[]string{"edit", "Fix the tests"}, goal.Command{Action: goal.Edit, Text: "Fix the tests"}},
		{[]string{"edit", "Fix", "the", "tests"}, goal.Command{Action: goal.Edit, Text: "Fix the tests"}},
		{[]string{"Fix", "the", "tests"}, goal.Command{Action: goal.Set, Text: "Fix the tests"}},
		{[]string{"Fix", "pause"}, goal.Command{Action: goal.Set, Text: "Fix pause"}},
		{[]string{" padded "}, goal.Command{Action: goal.Set, Text: "padded"}},
	} {
		if got, err := goal.ParseArgs(row.args); err != nil || got != row.want {
			t.Errorf("%q: got %+v, %v; want %+v", row.args, got, err, row.want)
		}
	}
}

func TestMisreadableArgumentsAreRefusedWithTheRemedy(t *testing.T) {
	for _, row := range []struct {
		args   []string
		remedy string
	}{
		{[]string{"clear", "the", "backlog"}, "goal 'clear the backlog'"},
		{[]string{"pause", "it's late"}, `goal 'pause it'\''s late'`},
		{[]string{"resume", ""}, "quote it whole"},
		{[]string{"edit"}, "goal edit TEXT"},
		{[]string{"edit", "  "}, "goal edit TEXT"},
		{[]string{""}, "say what is to be done"},
		{[]string{" ", "\t\n"}, "say what is to be done"},
	} {
		got, err := goal.ParseArgs(row.args)
		var syntax *goal.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(syntax.Remedy, row.remedy) {
			t.Errorf("%q: got %+v, %v; want a *SyntaxError with the remedy %q", row.args, got, err, row.remedy)
		}
		if err != nil && strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%q: the error is not one line: %q", row.args, err)
		}
	}
	if got, err := goal.ParseLine("/goal edit"); err == nil {
		t.Errorf("/goal edit without a text: got %+v", got)
	}
}

func FuzzEveryGoalLineIsOneOfTheTable(f *testing.F) {
	for _, line := range []string{"/goal", "/goal pause", "/goal edit x", "/goal  clear x", "/goal\u00a0x", "/goal \xff"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, err := goal.ParseLine(line)
		if err != nil {
			return
		}
		takesText := c.Action == goal.Set || c.Action == goal.Edit
		if takesText != (c.Text != "") || c.Text != strings.TrimSpace(c.Text) {
			t.Fatalf("%q: %+v", line, c)
		}
		if !utf8.ValidString(line) || !takesText {
			return
		}
		if !strings.HasSuffix(strings.TrimSpace(line), c.Text) {
			t.Fatalf("%q: the text %q was changed", line, c.Text)
		}
	})
}
