package goal

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Name is the command's name, without the slash.
const Name = "goal"

// Action is what a /goal command asks for.
type Action string

const (
	Show   Action = "show"
	Set    Action = "set" // start a goal, or replace the objective of the one that runs
	Edit   Action = "edit"
	Pause  Action = "pause"
	Resume Action = "resume"
	Clear  Action = "clear"
)

// Command is a /goal command, read.
type Command struct {
	Action Action
	Text   string // the objective of Set and Edit, trimmed; "" otherwise
}

// form is one row of the grammar.
type form struct {
	word   string // "" is no reserved word
	text   bool   // text follows, and must
	action Action
	help   string
}

// grammar is the whole of /goal, for slash lines and for arguments alike.
var grammar = []form{
	{word: "", text: false, action: Show, help: "show the goal"},
	{word: "", text: true, action: Set, help: "start a goal, or replace the objective of the running one"},
	{word: "pause", action: Pause, help: "pause the goal; the running turn goes on to its end"},
	{word: "resume", action: Resume, help: "go on with a stopped goal"},
	{word: "clear", action: Clear, help: "remove the goal; the running turn goes on to its end"},
	{word: "edit", text: true, action: Edit, help: "change the objective and leave the status as it is"},
}

// ErrNotGoal says that a line is not a /goal command.
var ErrNotGoal = errors.New("not a /goal command")

// SyntaxError says why a /goal command cannot be understood, and what to write.
type SyntaxError struct {
	Reason string
	Remedy string
}

func (e *SyntaxError) Error() string { return e.Reason + "; " + e.Remedy }

// ParseLine reads a slash line such as "/goal pause" or "/goal Fix the tests".
// What follows the command is one text: "/goal clear the backlog" is an
// objective, because only exactly "clear" is the word. The word edit takes the
// rest of the line. A line that does not begin with /goal is ErrNotGoal.
func ParseLine(line string) (Command, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "/"+Name)
	if !ok || (rest != "" && !startsWithSpace(rest)) {
		return Command{}, ErrNotGoal
	}
	text := strings.TrimSpace(rest)
	if f, ok := wordForm(text); ok {
		return f.command("")
	}
	if at := strings.IndexFunc(text, unicode.IsSpace); at >= 0 {
		if f, ok := wordForm(text[:at]); ok && f.text {
			return f.command(text[at:])
		}
	}
	return plainForm(text != "").command(text)
}

// ParseArgs reads the arguments of a goal command in a shell. Quoting tells
// words from text there: a reserved word stands alone or, for edit, before its
// text, and one argument with spaces in it is always an objective. Several
// arguments of which the first is no reserved word are one text.
func ParseArgs(args []string) (Command, error) {
	if len(args) == 0 {
		return plainForm(false).command("")
	}
	f, ok := wordForm(strings.TrimSpace(args[0]))
	switch {
	case !ok:
		text := strings.Join(args, " ")
		if strings.TrimSpace(text) == "" {
			return Command{}, errBlank()
		}
		return plainForm(true).command(text)
	case len(args) > 1 && !f.text:
		whole := strings.Join(args, " ")
		return Command{}, &SyntaxError{
			Reason: fmt.Sprintf("%q takes nothing after it", f.word),
			Remedy: fmt.Sprintf("if this is an objective, quote it whole: %s '%s'", Name, strings.ReplaceAll(whole, "'", `'\''`)),
		}
	}
	return f.command(strings.Join(args[1:], " "))
}

func (f form) command(text string) (Command, error) {
	text = strings.TrimSpace(text)
	if f.text && text == "" {
		if f.word == "" {
			return Command{}, errBlank()
		}
		return Command{}, &SyntaxError{
			Reason: fmt.Sprintf("%q needs the new objective after it", f.word),
			Remedy: fmt.Sprintf("write: %s %s TEXT", Name, f.word),
		}
	}
	return Command{Action: f.action, Text: text}, nil
}

func errBlank() error {
	return &SyntaxError{
		Reason: "the objective is blank",
		Remedy: fmt.Sprintf("say what is to be done, or run %s alone to see the goal", Name),
	}
}

func wordForm(word string) (form, bool) {
	for _, f := range grammar {
		if f.word != "" && f.word == word {
			return f, true
		}
	}
	return form{}, false
}

func plainForm(text bool) form {
	for _, f := range grammar {
		if f.word == "" && f.text == text {
			return f
		}
	}
	panic("goal: the grammar has no plain form")
}

// Words lists the reserved words, for completion.
func Words() []string {
	var words []string
	for _, f := range grammar {
		if f.word != "" {
			words = append(words, f.word)
		}
	}
	return words
}

func startsWithSpace(s string) bool {
	for _, r := range s {
		return unicode.IsSpace(r)
	}
	return false
}
