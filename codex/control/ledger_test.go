package control

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex/journal"
)

// through carries a command through a ledger.
func through(t *testing.T, l *ledger, cmd Command) {
	t.Helper()
	e, known, err := l.enter(cmd)
	if err != nil || known {
		t.Fatalf("%s: known %t, %v", cmd.ID, known, err)
	}
	if err := l.begin(e); err != nil {
		t.Fatal(err)
	}
	l.finish(e, &Value{Note: cmd.Text}, nil)
}

// dated is an id that was made so long after the first of 2020.
func dated(after time.Duration) string {
	ms := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(after).UnixMilli()
	return fmt.Sprintf("%08x-%04x-7000-8000-000000000000", ms>>16, ms&0xffff)
}

func TestTheLedgerForgetsOldResultsAndRefusesTheirIDs(t *testing.T) {
	log := &memoryLog{}
	l, err := openLedger(log, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := func(n int) string { return dated(time.Duration(n) * time.Second) }
	for n := range journal.WindowCount + 10 {
		through(t, l, Command{ID: id(n), Name: GoalClear})
	}
	through(t, l, Command{ID: "their own", Name: GoalClear})
	remembered := len(l.entries)
	if remembered < journal.WindowCount/2 || remembered > journal.WindowCount {
		t.Fatalf("%d entries are remembered", remembered)
	}
	oldest := journal.WindowCount + 10 + 1 - remembered
	check := func(l *ledger) {
		t.Helper()
		if len(l.entries) != remembered {
			t.Errorf("%d entries are remembered, want %d", len(l.entries), remembered)
		}
		var refused *Refusal
		for _, n := range []int{0, oldest - 1} {
			if _, _, err := l.enter(Command{ID: id(n), Name: GoalClear}); !errors.As(err, &refused) || refused.Code != TooOld {
				t.Errorf("id %d: %v", n, err)
			}
		}
		for _, kept := range []string{id(oldest), "their own"} {
			if e, known, err := l.enter(Command{ID: kept, Name: GoalClear}); err != nil || !known {
				t.Errorf("%s: known %t, %v", kept, known, err)
			} else if _, err := e.wait(); err != nil {
				t.Error(err)
			}
		}
	}
	check(l)
	// What a compaction keeps says the same.
	kept, err := l.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + 2*remembered; len(kept) != want {
		t.Errorf("a snapshot of %d records, want %d", len(kept), want)
	}
	again, err := openLedger(&memoryLog{records: kept}, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(again)
	through(t, again, Command{ID: NewID(), Name: GoalClear})
}

func TestACommandUnderWayStaysInTheLedger(t *testing.T) {
	l, err := openLedger(&memoryLog{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := l.enter(Command{ID: dated(0), Name: GoalClear})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.begin(e); err != nil {
		t.Fatal(err)
	}
	for range journal.WindowCount + 10 {
		through(t, l, Command{ID: NewID(), Name: GoalClear})
	}
	kept, err := l.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again, err := openLedger(&memoryLog{records: kept}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, known, err := again.enter(Command{ID: dated(0), Name: GoalClear})
	if err != nil || !known {
		t.Fatalf("known %t, %v", known, err)
	}
	var refused *Refusal
	if _, err := e.wait(); !errors.As(err, &refused) || refused.Code != DeliveryUnknown {
		t.Errorf("its owner ended: %v", err)
	}
}

func TestIDsAreNewAndSayWhenTheyWereMade(t *testing.T) {
	before := time.Now().Truncate(time.Millisecond)
	a, b := NewID(), NewID()
	made, ok := idTime(a)
	if a == b || !ok || made.Before(before) || made.After(time.Now()) {
		t.Errorf("%s, %s: made %v, %t", a, b, made, ok)
	}
	for _, other := range []string{"", "cli-1", "0190b36e-7f00-4000-8000-000000000000", "0190B36E-7F00-7000-8000-000000000000", "0190b36e-7f00-7000-c000-000000000000"} {
		if _, ok := idTime(other); ok {
			t.Errorf("%q has a time", other)
		}
	}
}

// The ledger's records are compacted in a real journal too.
func TestTheLedgersJournalStaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "journal")
	l := &ledger{entries: map[string]*entry{}}
	log, _, err := journal.OpenInto(t.Context(), path, l)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	l.log = folded{log}
	for range 2000 {
		through(t, l, Command{ID: NewID(), Name: GoalClear})
	}
	records, _, err := journal.Read(path)
	if err != nil || len(records) >= 3500 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// folded is a log that has its state already.
type folded struct{ *journal.Log }

func (folded) Fold(journal.State) error { return nil }
