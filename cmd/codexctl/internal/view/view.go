// Package view draws the state of a running goal or prompt for people: as a
// small block of lines that is redrawn in place on a terminal, and as plain
// lines that are only ever added to elsewhere.
//
// Render is a pure function of what is known, the width and whether there is
// colour. Nothing in this package reads a clock or a terminal.
package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/codexctl/codexctl/goal"
)

// State is what is known of the work, for one drawing.
type State struct {
	Goal      goal.State
	Objective string // the goal's, or the prompt's text
	Prompt    bool   // a prompt: there may be no goal at all

	Turn    int           // turns seen to start; 0 none
	Now     string        // what runs now; "" nothing known
	Tokens  int64         // used by the goal
	Budget  *int64        // the goal's total; nil is none
	Elapsed time.Duration // since the command began
}

// style paints text, or leaves it alone.
type style bool

func (s style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// ansi is the terminal's code for each colour of a dot.
var ansi = map[goal.Colour]string{goal.Green: "32", goal.Amber: "33", goal.Blue: "34", goal.Neutral: "90"}

const (
	dim         = "2"
	labelWidth  = 8 // of the left column of the block
	indentWidth = 2
	minColumns  = 20
	barMax      = 24 // cells of the budget's bar
)

// Render draws s in lines of at most columns columns each.
func Render(s State, columns int, colour bool) []string {
	columns = max(columns, minColumns)
	paint := style(colour)
	head := s.Goal.Label()
	if s.Goal == goal.None && s.Objective != "" { // not acknowledged yet, or no goal is wanted
		head = "goal"
		if s.Prompt {
			head = "prompt"
		}
	}
	dot := Dot(s.Goal, colour)
	room := columns - indentWidth - Width(head) - 2
	lines := []string{dot + " " + Cut(head, columns-indentWidth)}
	if objective := Clean(s.Objective); objective != "" && room >= 8 {
		lines[0] += "  " + Cut(objective, room)
	} else if objective != "" {
		lines = append(lines, "  "+Cut(objective, columns-indentWidth))
	}
	row := func(label, text string) {
		if text == "" {
			return
		}
		label += strings.Repeat(" ", labelWidth-len(label))
		text = Cut(text, columns-indentWidth-labelWidth)
		lines = append(lines, "  "+paint.paint(dim, label)+text)
	}
	if s.Turn > 0 {
		row("turn", strings.TrimSpace(fmt.Sprintf("%d  %s", s.Turn, Clean(s.Now))))
	} else {
		row("now", Clean(s.Now))
	}
	row("tokens", tokensText(s, columns-indentWidth-labelWidth))
	row("time", goal.Clock(s.Elapsed))
	return lines
}

// tokensText is the tokens, against the budget as a bar where there is room.
func tokensText(s State, room int) string {
	if s.Budget == nil {
		if s.Tokens == 0 {
			return ""
		}
		return goal.Thousands(s.Tokens)
	}
	text := goal.Thousands(s.Tokens) + " of " + goal.Thousands(*s.Budget)
	percent := 100
	if *s.Budget > 0 {
		percent = int(min(float64(s.Tokens)/float64(*s.Budget), 9.99) * 100)
	}
	share := fmt.Sprintf("%d%%", percent)
	bar := min(barMax, room-Width(text)-len(share)-4)
	if bar < 5 {
		return text + "  " + share
	}
	filled := min(bar, bar*percent/100)
	return text + "  " + strings.Repeat("█", filled) + strings.Repeat("░", bar-filled) + "  " + share
}

// Line is a goal in one line, for results and for pipes: dot, state, objective,
// tokens and time, cut to columns where that is not 0.
func Line(state goal.State, objective, figures string, columns int, colour bool) string {
	dot := Dot(state, colour)
	text := state.Label()
	if figures != "" {
		figures = " (" + figures + ")"
	}
	if objective = Clean(objective); objective != "" {
		if columns > 0 {
			objective = Cut(objective, max(8, columns-indentWidth-Width(text)-2-Width(figures)))
		}
		text += ": " + objective
	}
	return dot + " " + text + figures
}

// Dot is the status dot in its colour.
func Dot(state goal.State, colour bool) string {
	return style(colour).paint(ansi[state.Colour()], state.Dot())
}
