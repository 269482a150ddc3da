package control

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/codexctl/codexctl/codex/journal"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// Log keeps records beyond the process: a *worker.Worker does, in its journal.
type Log interface {
	// Records are those kept by earlier owners, in order.
	Records() []journal.Record
	// Append keeps one more. When it returns nil the record is on disk.
	Append(journal.Record) error
}

// Kinds of records that a ledger keeps.
const (
	recordCommand       = "command"       // commandRecord: a command is about to be carried out
	recordCommandResult = "commandResult" // commandResultRecord: what became of it
)

type commandRecord struct {
	ID     string `json:"id"`
	Name   Name   `json:"command"`
	Digest string `json:"digest"`
}

type commandResultRecord struct {
	ID      string   `json:"id"`
	Value   *Value   `json:"value,omitempty"`
	Refused *Refusal `json:"refused,omitempty"`
}

// ledger remembers every mutation by its id, so that one that is asked for again
// gets the result it had and is not carried out again.
type ledger struct {
	log Log // nil: in memory alone

	mu      sync.Mutex
	entries map[string]*entry
}

// entry is one command and, once it is known, its result.
type entry struct {
	cmd    Command
	digest string
	done   chan struct{} // closed when value and err are set
	once   sync.Once
	value  *Value
	err    error
}

// lost settles a command whose owner ended while it was carried out by what the
// new owner found out. It is not carried out again.
func (e *entry) lost(found []worker.Recovery) {
	for _, r := range found {
		if !e.meant(r.Intent) {
			continue
		}
		switch r.Verdict {
		case worker.Delivered:
			e.settle(&Value{Goal: GoalOf(r.Goal), Note: r.String()}, nil)
		case worker.NotDelivered:
			e.settle(nil, &Refusal{Code: NotSent, Reason: r.String()})
		}
	}
	e.settle(nil, &Refusal{Code: DeliveryUnknown, Reason: "its owner ended before the outcome was known; it is not sent again: look at the status"})
}

// meant reports whether the intent is the one that the command led to. Commands
// of one lane are carried out one by one, so at most one of each kind is open.
func (e *entry) meant(in worker.Intent) bool {
	if in.Own {
		return false
	}
	switch in.Method {
	case protocol.ThreadGoalSetMethod.Name:
		bare := in.Objective == ""
		return e.cmd.Name == GoalSet && !bare ||
			e.cmd.Name == GoalEdit && in.Status == "" ||
			e.cmd.Name == GoalPause && bare && in.Then == "" && in.Status == protocol.ThreadGoalStatusPaused ||
			e.cmd.Name == GoalResume && bare && in.Status == protocol.ThreadGoalStatusActive
	case protocol.ThreadGoalClearMethod.Name:
		// A set on a complete goal clears it first: that alone is no delivery.
		return e.cmd.Name == GoalClear
	case protocol.TurnStartMethod.Name:
		return e.cmd.Name == Prompt
	case protocol.TurnSteerMethod.Name:
		return e.cmd.Name == Steer
	}
	return false
}

func openLedger(log Log, found []worker.Recovery) (*ledger, error) {
	l := &ledger{log: log, entries: map[string]*entry{}}
	if log == nil {
		return l, nil
	}
	for _, r := range log.Records() {
		switch r.Kind {
		case recordCommand:
			var c commandRecord
			if err := r.Decode(&c); err != nil {
				return nil, err
			}
			l.entries[c.ID] = newEntry(Command{ID: c.ID, Name: c.Name}, c.Digest)
		case recordCommandResult:
			var res commandResultRecord
			if err := r.Decode(&res); err != nil {
				return nil, err
			}
			e, ok := l.entries[res.ID]
			if !ok {
				return nil, fmt.Errorf("control: record %d is the result of command %q, which was never begun", r.Seq, res.ID)
			}
			if res.Refused != nil {
				e.settle(nil, res.Refused)
			} else {
				e.settle(res.Value, nil)
			}
		}
	}
	for _, e := range l.entries {
		e.lost(found) // those that have a result keep it
	}
	return l, nil
}

func newEntry(cmd Command, digest string) *entry {
	return &entry{cmd: cmd, digest: digest, done: make(chan struct{})}
}

// enter finds the command by its id, or makes an entry for it.
func (l *ledger) enter(cmd Command) (e *entry, known bool, err error) {
	line, err := cmd.Encode()
	if err != nil {
		return nil, false, err
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(line))
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.entries[cmd.ID]; ok {
		if e.digest != digest {
			return nil, false, malformed("id %q was used for another command already", cmd.ID)
		}
		return e, true, nil
	}
	e = newEntry(cmd, digest)
	l.entries[cmd.ID] = e
	return e, false, nil
}

// begin notes that the command is about to be carried out.
func (l *ledger) begin(e *entry) error {
	return l.append(recordCommand, commandRecord{ID: e.cmd.ID, Name: e.cmd.Name, Digest: e.digest})
}

// finish keeps the result. A result that cannot be noted still goes to whoever
// waits: to a later owner its outcome will be unknown.
func (l *ledger) finish(e *entry, value *Value, err error) {
	r := commandResultRecord{ID: e.cmd.ID, Value: value}
	if err != nil {
		r.Value, r.Refused = nil, refusalOf(err)
	}
	if e.cmd.Name != Stop {
		_ = l.append(recordCommandResult, r)
	}
	e.settle(value, err)
}

func (l *ledger) append(kind string, v any) error {
	if l.log == nil {
		return nil
	}
	r, err := journal.New(kind, v)
	if err != nil {
		return err
	}
	return l.log.Append(r)
}

func (e *entry) settle(value *Value, err error) {
	e.once.Do(func() {
		e.value, e.err = value, err
		close(e.done)
	})
}

func (e *entry) wait() (*Value, error) {
	<-e.done
	return e.value, e.err
}
