package worker

import (
	"context"
	"fmt"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/protocol"
)

// LeftoverKind is what has been left behind.
type LeftoverKind string

// What turns can leave behind.
const (
	LeftSubAgent LeftoverKind = "sub-agent" // the turn of a thread that the worker's thread has started
	LeftTerminal LeftoverKind = "terminal"  // a command that Codex runs in the background
	LeftProcess  LeftoverKind = "process"   // a process of a command that Codex has lost sight of
)

// Leftover is something that a thread's turns have left running.
type Leftover struct {
	Kind   LeftoverKind
	Thread string // whose it is: the worker's, or a sub-agent's
	// Name is the command line, or of a sub-agent the id of its turn.
	Name string
	PID  int // 0 is not known
}

func (o Leftover) String() string {
	if o.PID == 0 {
		return fmt.Sprintf("%s %s", o.Kind, o.Name)
	}
	return fmt.Sprintf("%s %d: %s", o.Kind, o.PID, o.Name)
}

// leftovers looks for what the turns of some threads have left behind, and ends it.
type leftovers struct {
	client  *codex.Client
	threads map[string]string // each with its running turn; "" none
	others  []string          // threads that are not loaded: only processes can be theirs
	state   string            // the state directory, which names other owners
}

// found is an outcome of looking or ending.
type found struct {
	left []Leftover
	err  error // what could not be asked for; the rest is done all the same
}

// look lists what runs.
func (o leftovers) look(ctx context.Context) (f found) {
	for thread, turn := range o.threads {
		if turn != "" {
			f.left = append(f.left, Leftover{Kind: LeftSubAgent, Thread: thread, Name: turn})
		}
		terminals, err := o.terminals(ctx, thread)
		if err != nil {
			f.err = err
		}
		for _, t := range terminals {
			f.left = append(f.left, leftTerminal(thread, t))
		}
	}
	for _, p := range o.processes() {
		f.left = append(f.left, p.Leftover)
	}
	return f
}

// end interrupts turns, ends the terminals that Codex knows, and then what it does not.
func (o leftovers) end(ctx context.Context) (f found) {
	for thread, turn := range o.threads {
		if turn == "" {
			continue
		}
		_, err := codex.Call(ctx, o.client, protocol.TurnInterruptMethod, protocol.TurnInterruptParams{ThreadID: thread, TurnID: turn})
		if err == nil { // refused: it is over already
			f.left = append(f.left, Leftover{Kind: LeftSubAgent, Thread: thread, Name: turn})
		}
	}
	for thread := range o.threads {
		terminals, err := o.terminals(ctx, thread)
		if err != nil {
			f.err = err
		}
		for _, t := range terminals {
			r, err := codex.Call(ctx, o.client, protocol.ThreadBackgroundTerminalsTerminateMethod,
				protocol.ThreadBackgroundTerminalsTerminateParams{ThreadID: thread, ProcessID: t.ProcessID})
			switch {
			case err != nil:
				f.err = err
			case r.Terminated:
				f.left = append(f.left, leftTerminal(thread, t))
			}
		}
	}
	f.left = append(f.left, o.endProcesses(ctx)...)
	return f
}

func (o leftovers) terminals(ctx context.Context, thread string) (all []protocol.ThreadBackgroundTerminal, err error) {
	var cursor protocol.Opt[string]
	for {
		page, err := codex.Call(ctx, o.client, protocol.ThreadBackgroundTerminalsListMethod,
			protocol.ThreadBackgroundTerminalsListParams{ThreadID: thread, Cursor: cursor})
		if err != nil {
			return all, fmt.Errorf("list the background terminals of thread %s: %w", thread, err)
		}
		all = append(all, page.Data...)
		if page.NextCursor == nil || len(page.Data) == 0 {
			return all, nil
		}
		cursor = protocol.Some(*page.NextCursor)
	}
}

func leftTerminal(thread string, t protocol.ThreadBackgroundTerminal) Leftover {
	o := Leftover{Kind: LeftTerminal, Thread: thread, Name: t.Command}
	if t.OsPid != nil {
		o.PID = int(*t.OsPid)
	}
	return o
}
