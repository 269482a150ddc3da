// Package goal is the /goal command: its grammar, what a goal's state means to
// people, which actions apply in it, and a description of itself by which a
// frontend discovers all this instead of knowing it.
//
// It decides nothing about a running goal and talks to nobody; package worker
// does. Everything in it is a pure function, good from any goroutine.
package goal

import (
	"strings"

	"github.com/codexctl/codexctl/codex/protocol"
)

// Description is what a command says of itself.
type Description struct {
	Name         string     `json:"name"` // without the slash
	Summary      string     `json:"summary"`
	ArgumentHelp string     `json:"argument_help"`
	Arguments    []Argument `json:"arguments"`
	Mode         Mode       `json:"mode"`
}

// Argument is one way to call the command.
type Argument struct {
	Usage   string `json:"usage"` // "" is the bare command
	Action  Action `json:"action"`
	Summary string `json:"summary"`
}

// Mode is the lasting thing that the command switches, for a status display.
type Mode struct {
	Name    string   `json:"name"`
	State   State    `json:"state"`
	Label   string   `json:"label"`
	Colour  Colour   `json:"colour"`
	Actions []Action `json:"actions"` // those that apply now; never nil
}

// Describe describes the command for a thread whose goal was read as g and err.
func Describe(g *protocol.ThreadGoal, err error) Description {
	state := StateOf(g, err)
	d := Description{
		Name:    Name,
		Summary: "Have Codex work towards an objective over as many turns as it takes",
		Mode: Mode{
			Name:    Name,
			State:   state,
			Label:   state.Label(),
			Colour:  state.Colour(),
			Actions: append([]Action{}, state.Actions()...),
		},
	}
	var usages []string
	for _, f := range grammar {
		usage := f.usage()
		d.Arguments = append(d.Arguments, Argument{Usage: usage, Action: f.action, Summary: f.help})
		if usage != "" {
			usages = append(usages, usage)
		}
	}
	d.ArgumentHelp = "[" + strings.Join(usages, " | ") + "]"
	return d
}

func (f form) usage() string {
	switch {
	case f.word == "" && f.text:
		return "OBJECTIVE"
	case f.text:
		return f.word + " TEXT"
	default:
		return f.word
	}
}
