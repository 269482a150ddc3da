package worker

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/journal"
)

// history is what the journal of an identity says: the state of its log. Once the
// log is open it belongs to the log, which changes it with each record.
type history struct {
	past
	finished journal.Window[finished]
	others   []journal.Record // of kinds that are not a worker's, until callers folds them
	callers  journal.State    // nil: nobody has said what they add up to
}

// past is what is kept of a history when its journal is compacted. A kind of record
// is a case in Apply and a field here.
type past struct {
	Identity  Identity        `json:"identity"`
	Owners    int             `json:"owners"` // so far
	Thread    string          `json:"thread"`
	Children  []string        `json:"children"`  // threads of sub-agents
	Settings  settingsRecord  `json:"settings"`  // of the native thread
	Server    codex.ProcessID `json:"server"`    // the last app-server, if it is not known to be gone
	Intents   int             `json:"intents"`   // the greatest ID so far
	Open      map[int]Intent  `json:"open"`      // without an outcome, by ID
	Cleared   *Intent         `json:"cleared"`   // a clear that was acknowledged, and whose Then was not written
	Durable   map[string]bool `json:"durable"`   // threads with an acknowledged mutation: Codex has stored them
	Recovered []Recovery      `json:"recovered"` // by earlier owners, and no mutation of a caller's since
}

// finished is what is kept of a mutation that is over and done with.
type finished struct {
	Intent    int    `json:"intent"`
	Thread    string `json:"thread"`
	Method    string `json:"method"`
	Own       bool   `json:"own,omitempty"`
	Objective string `json:"objective,omitempty"` // its SHA-256
	Outcome   string `json:"outcome"`             // its delivery, or the verdict of a later owner
}

type pastRecord struct {
	past
	Finished []finished `json:"finished"`
}

func newHistory() *history {
	return &history{past: past{Open: map[int]Intent{}, Durable: map[string]bool{}}}
}

// openHistory opens the journal in the directory of an identity.
func openHistory(ctx context.Context, dir string) (*journal.Log, *history, journal.Torn, error) {
	h := newHistory()
	log, torn, err := journal.OpenInto(ctx, filepath.Join(dir, journalFile), h)
	return log, h, torn, err
}

// readHistory reads it only.
func readHistory(ctx context.Context, dir string) (*history, journal.Torn, error) {
	h := newHistory()
	torn, err := journal.ReadInto(ctx, filepath.Join(dir, journalFile), h.Apply)
	return h, torn, err
}

// Apply takes one record.
func (h *history) Apply(r journal.Record) error {
	switch r.Kind {
	case recordOwner:
		return apply(r, func(o ownerRecord) { h.Identity, h.Owners = o.Identity, h.Owners+1 })
	case recordThread:
		return apply(r, func(t threadRecord) { h.Thread = t.Thread })
	case recordChild:
		return apply(r, func(t threadRecord) { h.Children = append(h.Children, t.Thread) })
	case recordSettings:
		return apply(r, func(s settingsRecord) { h.Settings = s })
	case recordServer:
		return apply(r, func(s serverRecord) { h.Server = s.Process })
	case recordServerEnd:
		h.Server = codex.ProcessID{}
	case recordIntent:
		return apply(r, h.begin)
	case recordOutcome:
		return apply(r, h.outcome)
	case recordRecovered:
		return apply(r, h.recovered)
	case recordPast:
		return apply(r, h.restore)
	default:
		if h.callers != nil {
			return h.callers.Apply(r)
		}
		h.others = append(h.others, r)
	}
	return nil
}

func apply[T any](r journal.Record, take func(T)) error {
	var v T
	if err := r.Decode(&v); err != nil {
		return err
	}
	take(v)
	return nil
}

func (h *history) begin(in Intent) {
	h.Open[in.ID] = in
	h.Intents = max(h.Intents, in.ID)
	h.Cleared = nil
	if !in.Own {
		h.Recovered = nil
	}
}

func (h *history) outcome(out outcomeRecord) {
	in, ok := h.Open[out.Intent]
	if !ok {
		return
	}
	if out.Delivery == codex.Acknowledged.String() {
		h.Durable[in.Thread] = true
		if in.Then != "" {
			h.Cleared = &in
		}
	}
	h.finish(in, out.Delivery)
}

func (h *history) recovered(rec recoveredRecord) {
	in, ok := h.Open[rec.Intent]
	if !ok && h.Cleared != nil && h.Cleared.ID == rec.Intent {
		in, h.Cleared = *h.Cleared, nil
	}
	h.Recovered = append(h.Recovered, Recovery{Intent: in, Verdict: rec.Verdict, Goal: rec.Goal})
	if ok {
		h.finish(in, string(rec.Verdict))
	}
}

func (h *history) finish(in Intent, outcome string) {
	delete(h.Open, in.ID)
	done := finished{Intent: in.ID, Thread: in.Thread, Method: in.Method, Own: in.Own, Outcome: outcome}
	if in.Objective != "" {
		done.Objective = fmt.Sprintf("%x", sha256.Sum256([]byte(in.Objective)))
	}
	h.keep(done)
}

func (h *history) keep(done finished) {
	b, _ := json.Marshal(done) // strings and numbers
	h.finished.Add(done, len(b)+len(","))
}

func (h *history) restore(p pastRecord) {
	h.past = p.past
	if h.Open == nil {
		h.Open = map[int]Intent{}
	}
	if h.Durable == nil {
		h.Durable = map[string]bool{}
	}
	for _, done := range p.Finished {
		h.keep(done)
	}
}

// Snapshot gives what the history adds up to.
func (h *history) Snapshot() ([]journal.Record, error) {
	r, err := journal.New(recordPast, pastRecord{past: h.past, Finished: h.finished.All()})
	if err != nil {
		return nil, err
	}
	others := h.others
	if h.callers != nil {
		if others, err = h.callers.Snapshot(); err != nil {
			return nil, err
		}
	}
	return append([]journal.Record{r}, others...), nil
}

// fold makes s what the callers' records add up to, those kept so far and those to
// come.
func (h *history) fold(s journal.State) error {
	for _, r := range h.others {
		if err := s.Apply(r); err != nil {
			return fmt.Errorf("journal record %d (%s): %w", r.Seq, r.Kind, err)
		}
	}
	h.others, h.callers = nil, s
	return nil
}

// open are the intents without an outcome, oldest first.
func (h *history) open() []Intent {
	var open []Intent
	for _, id := range slices.Sorted(maps.Keys(h.Open)) {
		open = append(open, h.Open[id])
	}
	return open
}
