package main

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/codexctl/codexctl/codex/control"
)

// deafOwner takes commands and says what it is told to.
func deafOwner(t *testing.T, say func(control.Command) []control.Payload) *link {
	mine, theirs := net.Pipe()
	go func() {
		commands := make([]byte, 64<<10)
		for seq := uint64(1); ; {
			n, err := theirs.Read(commands)
			if err != nil {
				return
			}
			cmd, err := control.ParseCommand(commands[:n-1])
			if err != nil {
				t.Error(err)
			}
			for _, p := range say(cmd) {
				line, err := control.Event{Seq: seq, Run: "r", Payload: p}.Encode()
				if err != nil {
					t.Error(err)
				}
				if _, err := theirs.Write(line); err != nil {
					return
				}
				seq++
			}
		}
	}()
	return &link{Conn: control.NewConn(mine)}
}

func TestAnOwnerThatSaysNothingIsGivenUp(t *testing.T) {
	for _, name := range []control.Name{control.GoalSet, control.GoalResume, control.Prompt} {
		synctest.Test(t, func(t *testing.T) {
			l := deafOwner(t, func(control.Command) []control.Payload { return nil })
			defer l.close()
			err := begins(t, l, name)
			if codeOf(err) != exitUnknown {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestAnOwnerThatIsOnlySlowIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var first string
		l := deafOwner(t, func(cmd control.Command) []control.Payload {
			if first == "" {
				first = cmd.ID
				return nil
			}
			said := []control.Payload{&control.CommandResult{ID: cmd.ID, Outcome: control.Outcome{Result: "ok"}}}
			if time.Since(began) > 5*ownerPatience {
				said = append(said, &control.CommandResult{ID: first, Outcome: control.Outcome{Result: "ok"}})
			}
			return said
		})
		defer l.close()
		if err := begins(t, l, control.GoalResume); err != nil {
			t.Error(err)
		}
	})
}

// begins sends a command as drive does.
func begins(t *testing.T, l *link, name control.Name) error {
	f := &follower{show: &jsonShow{out: &outlet{w: t.Output()}, err: &outlet{w: t.Output()}}}
	f.attach(t.Context(), l)
	defer f.detach()
	_, err := f.begin(t.Context(), control.Command{ID: "1", Name: name, Text: "x"})
	return err
}
