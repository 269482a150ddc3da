package control

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/codex/protocol"
)

// CommandFormat is the tag on every command line.
const CommandFormat = "codexctl.command/1"

// Name is a command's name on the wire.
type Name string

const (
	GoalSet      Name = "goal.set"      // text; token_budget. Starts a goal or replaces the running one's objective
	GoalEdit     Name = "goal.edit"     // text or token_budget or both. The status stays as it is
	GoalPause    Name = "goal.pause"    // force
	GoalResume   Name = "goal.resume"   // token_budget
	GoalClear    Name = "goal.clear"    //
	GoalShow     Name = "goal.show"     //
	Prompt       Name = "prompt"        // text. One user turn on an idle thread
	Steer        Name = "steer"         // text. Added to the running turn
	Stop         Name = "stop"          // owner. Nothing runs any more; with owner, the owner ends too
	Status       Name = "status"        //
	CommandsList Name = "commands.list" // what exists and what applies now
)

// Command is one line to an owner.
type Command struct {
	ID   string // chosen by the caller, not empty; it comes back in the result
	Name Name
	Text string // the text of goal.set, goal.edit, prompt and steer

	// Budget is the goal's total in tokens: absent keeps, null removes, a value sets.
	Budget protocol.Opt[int64]

	Owner bool // stop: the owner ends as well
	Force bool // goal.pause: even where another client of Codex has the thread
}

// spec says what a command takes and whether it changes anything.
type spec struct {
	text, budget, owner, force bool // which fields it takes
	needsText                  bool
	mutates                    bool // it gets its result by its id, however often it is sent
}

var specs = map[Name]spec{
	GoalSet:      {text: true, needsText: true, budget: true, mutates: true},
	GoalEdit:     {text: true, budget: true, mutates: true},
	GoalPause:    {force: true, mutates: true},
	GoalResume:   {budget: true, mutates: true},
	GoalClear:    {mutates: true},
	GoalShow:     {},
	Prompt:       {text: true, needsText: true, mutates: true},
	Steer:        {text: true, needsText: true, mutates: true},
	Stop:         {owner: true, mutates: true},
	Status:       {},
	CommandsList: {},
}

// UnknownID stands for the id of a line that had none of its own.
const UnknownID = "-"

// commandLine is a command on the wire. Fields a command does not take are
// ignored, like unknown ones.
type commandLine struct {
	Format string              `json:"format"`
	ID     string              `json:"id"`
	Name   Name                `json:"command"`
	Text   *string             `json:"text,omitzero"`
	Budget protocol.Opt[int64] `json:"token_budget,omitzero"`
	Owner  bool                `json:"owner,omitzero"`
	Force  bool                `json:"force,omitzero"`
}

// Encode writes the command as one line, line feed included.
func (c Command) Encode() ([]byte, error) {
	line := commandLine{Format: CommandFormat, ID: c.ID, Name: c.Name, Budget: c.Budget, Owner: c.Owner, Force: c.Force}
	if c.Text != "" {
		line.Text = &c.Text
	}
	b, err := json.Marshal(line)
	if err != nil {
		return nil, fmt.Errorf("control: encode %s: %w", c.Name, err)
	}
	return append(b, '\n'), nil
}

// ParseCommand reads one line without its line feed. It refuses in this order:
// not a JSON object, another format, an unknown command, a payload that does
// not fit. The returned command has its ID even if it is refused, or UnknownID
// where the line has none that could be used.
func ParseCommand(line []byte) (Command, error) {
	refused := Command{ID: UnknownID}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(line, &fields); err != nil || fields == nil {
		return refused, malformed("the line is not a JSON object: %s", reason(err, "it is null"))
	}
	var id string
	if err := json.Unmarshal(fields["id"], &id); err != nil || id == "" || id == UnknownID {
		return refused, malformed("id must be a string that is not empty, and not %q", UnknownID)
	}
	refused.ID = id
	var format, name string
	if json.Unmarshal(fields["format"], &format) != nil || format != CommandFormat {
		return refused, malformed("format must be %q", CommandFormat)
	}
	if json.Unmarshal(fields["command"], &name) != nil {
		return refused, malformed("command must be a string")
	}
	spec, ok := specs[Name(name)]
	if !ok {
		return refused, malformed("there is no command %q; commands.list names those that exist", name)
	}
	c := Command{ID: id, Name: Name(name)}
	if err := c.take(spec, fields); err != nil {
		return refused, err
	}
	return c, nil
}

// take reads the payload that spec allows.
func (c *Command) take(spec spec, fields map[string]jsontext.Value) error {
	field := func(name string, taken bool, into any) error {
		value, given := fields[name]
		if !taken || !given {
			return nil
		}
		if err := json.Unmarshal(value, into); err != nil {
			return malformed("%s: %s does not fit: %s", c.Name, name, reason(err, ""))
		}
		return nil
	}
	if err := errors.Join(
		field("text", spec.text, &c.Text),
		field("token_budget", spec.budget, &c.Budget),
		field("owner", spec.owner, &c.Owner),
		field("force", spec.force, &c.Force),
	); err != nil {
		return err
	}
	return c.check()
}

// check holds a command against its spec, wherever it came from.
func (c Command) check() error {
	spec, ok := specs[c.Name]
	if !ok {
		return malformed("there is no command %q", c.Name)
	}
	blank := strings.TrimSpace(c.Text) == ""
	switch {
	case c.ID == "" || c.ID == UnknownID:
		return malformed("%s: the id is empty", c.Name)
	case spec.needsText && blank:
		return malformed("%s: text must not be blank", c.Name)
	case c.Name == GoalEdit && blank && c.Budget.IsAbsent():
		return malformed("%s: give text, token_budget or both", c.Name)
	}
	if n, ok := c.Budget.Get(); ok && n <= 0 {
		return malformed("%s: token_budget must be positive, or null for none", c.Name)
	}
	return nil
}

// reason is the heart of a JSON error in one line.
func reason(err error, otherwise string) string {
	if err == nil {
		return otherwise
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && semantic.Err != nil {
		err = semantic.Err
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
