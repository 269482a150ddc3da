package control

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/codexctl/codexctl/codex/journal"
	"github.com/codexctl/codexctl/codex/protocol"
	"github.com/codexctl/codexctl/codex/worker"
)

// Log keeps records beyond the process: a *worker.Worker does, in its journal.
type Log interface {
	// Fold gives state those kept by earlier owners, in order, and from then on each
	// that is appended. State says what has to be kept of them.
	Fold(state journal.State) error
	// Append keeps one more. When it returns nil the record is on disk.
	Append(journal.Record) error
}

// Kinds of records that a ledger keeps.
const (
	recordCommand       = "command"       // commandRecord: a command is about to be carried out
	recordCommandResult = "commandResult" // commandResultRecord: what became of it
	recordCommandFloor  = "commandFloor"  // floorRecord: the ids that are not remembered any more
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

// floorRecord holds the newest of the dated ids that have left the ledger.
type floorRecord struct {
	ID string `json:"id"`
}

// ledger remembers mutations by their ids, so that one that is asked for again
// gets the result it had and is not carried out again: all that are under way, and
// of those with a result what a [journal.Window] holds. It is the state of its
// records.
type ledger struct {
	log Log // nil: in memory alone

	mu      sync.Mutex
	entries map[string]*entry
	done    journal.Window[*entry] // those that have a result
	floor   string                 // the newest dated id that left it; "" none did
}

// entry is one command and, once it is known, its result.
type entry struct {
	cmd    Command
	digest string
	noted  bool          // its command is in the log
	told   func()        // settles it once its result is in the log; nil: as the log says
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
	if err := log.Fold(l); err != nil {
		return nil, err
	}
	for _, e := range l.underWay() {
		e.lost(found)
		_ = l.append(recordCommandResult, e.result()) // else the next owner finds it so again
	}
	return l, nil
}

// underWay are the commands without a result, in the order of their ids.
func (l *ledger) underWay() (open []*entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(l.entries)) {
		select {
		case <-l.entries[id].done:
		default:
			open = append(open, l.entries[id])
		}
	}
	return open
}

// Apply takes one record of the log.
func (l *ledger) Apply(r journal.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r.Kind {
	case recordCommand:
		var c commandRecord
		if err := r.Decode(&c); err != nil {
			return err
		}
		if l.entries[c.ID] == nil {
			l.entries[c.ID] = newEntry(Command{ID: c.ID, Name: c.Name}, c.Digest)
		}
		l.entries[c.ID].noted = true
	case recordCommandResult:
		var res commandResultRecord
		if err := r.Decode(&res); err != nil {
			return err
		}
		e, ok := l.entries[res.ID]
		if !ok {
			return fmt.Errorf("control: the result of command %q, which was never begun", res.ID)
		}
		switch {
		case e.told != nil:
			e.told()
		case res.Refused != nil:
			e.settle(nil, res.Refused)
		default:
			e.settle(res.Value, nil)
		}
		l.keepLocked(e, len(r.Data)+len(e.cmd.ID)+len(e.digest))
	case recordCommandFloor:
		var f floorRecord
		if err := r.Decode(&f); err != nil {
			return err
		}
		l.floor = max(l.floor, f.ID)
	}
	return nil
}

// keepLocked takes an entry with a result, and lets the oldest go.
func (l *ledger) keepLocked(e *entry, size int) {
	for _, left := range l.done.Add(e, size+frames) {
		delete(l.entries, left.cmd.ID)
		if _, dated := idTime(left.cmd.ID); dated {
			l.floor = max(l.floor, left.cmd.ID)
		}
	}
}

// frames is about what the records of a command take beside what is in them.
const frames = 200

// Snapshot gives what is remembered: those under way, and the newest results.
func (l *ledger) Snapshot() ([]journal.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []journal.Record
	add := func(kind string, v any) error {
		r, err := journal.New(kind, v)
		all = append(all, r)
		return err
	}
	var errs []error
	if l.floor != "" {
		errs = append(errs, add(recordCommandFloor, floorRecord{l.floor}))
	}
	finished := map[*entry]bool{}
	for _, e := range l.done.All() {
		finished[e] = true
		if !e.noted { // a stop
			continue
		}
		errs = append(errs, add(recordCommand, e.record()), add(recordCommandResult, e.result()))
	}
	for _, id := range slices.Sorted(maps.Keys(l.entries)) {
		if e := l.entries[id]; e.noted && !finished[e] {
			errs = append(errs, add(recordCommand, e.record()))
		}
	}
	return all, errors.Join(errs...)
}

func (e *entry) record() commandRecord {
	return commandRecord{ID: e.cmd.ID, Name: e.cmd.Name, Digest: e.digest}
}

// result is that of an entry that has one.
func (e *entry) result() commandResultRecord {
	if e.err != nil {
		return commandResultRecord{ID: e.cmd.ID, Refused: refusalOf(e.err)}
	}
	return commandResultRecord{ID: e.cmd.ID, Value: e.value}
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
	if l.forgottenLocked(cmd.ID) {
		return nil, false, &Refusal{Code: TooOld, Reason: fmt.Sprintf("id %q is older than those whose results are kept; whether it was carried out is not known any more: look at the status", cmd.ID)}
	}
	e = newEntry(cmd, digest)
	l.entries[cmd.ID] = e
	return e, false, nil
}

// forgottenLocked reports whether the id may be of a command that has left the
// ledger. Ids ahead of the clock, of a time when it was wrong, say nothing.
func (l *ledger) forgottenLocked(id string) bool {
	made, dated := idTime(id)
	floor, _ := idTime(l.floor)
	return dated && l.floor != "" && id <= l.floor && !made.After(time.Now()) && !floor.After(time.Now())
}

// begin notes that the command is about to be carried out.
func (l *ledger) begin(e *entry) error { return l.append(recordCommand, e.record()) }

// drop settles a command without a note of it.
func (l *ledger) drop(e *entry, value *Value, err error) {
	e.settle(value, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keepLocked(e, 0)
}

// finish keeps the result. A result that cannot be noted still goes to whoever
// waits: to a later owner its outcome will be unknown.
func (l *ledger) finish(e *entry, value *Value, err error) {
	if e.cmd.Name == Stop {
		l.drop(e, value, err)
		return
	}
	r := commandResultRecord{ID: e.cmd.ID, Value: value}
	if err != nil {
		r.Value, r.Refused = nil, refusalOf(err)
	}
	l.mu.Lock()
	e.told = func() { e.settle(value, err) }
	l.mu.Unlock()
	_ = l.append(recordCommandResult, r)
	e.told()
}

func (l *ledger) append(kind string, v any) error {
	r, err := journal.New(kind, v)
	if err != nil {
		return err
	}
	if l.log == nil {
		return l.Apply(r)
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
