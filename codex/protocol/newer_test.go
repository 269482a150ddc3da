package protocol_test

import (
	"cmp"
	"flag"
	"maps"
	"slices"
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
)

// newerPlays are the sessions that a newer Codex plays: those that use what is not likely to go. (0.171 has no clock of the
// client's any more.)
var newerPlays = []string{"tools", "asks", "plans", "goals", "hooks", "threads", "host", "reviews", "unload"}

var newer = flag.String("newer", "", "executable of another Codex, whose messages must decode too (scripts/drift)")

// The types are for one release, and its neighbours are refused at the door. Even so nothing that a newer one says may
// break them: what they do not know is told apart and kept. The same is asked of 0.160.1, where nothing is unknown.
func TestWhatANewerCodexSaysDecodes(t *testing.T) {
	t.Parallel()
	codex, plays := cmp.Or(*newer, codextest.Binary(t)), newerPlays
	if *newer == "" {
		plays = []string{"goals"}
	}
	j := newJudge(t)
	j.newer = true
	t.Run("sessions", func(t *testing.T) {
		for _, row := range sessions {
			if !slices.Contains(plays, row.name) {
				continue
			}
			t.Run(row.name, func(t *testing.T) {
				model := codextest.StartModel(t, onWord)
				home := codextest.TempHome(t, model, codextest.HomeOptions{Settings: row.settings, Tables: row.tables})
				s := startAppServerOf(t, codex, home, j)
				s.initialize()
				row.run(t, s, home)
			})
		}
	})
	j.report(t)

	messages := 0
	for _, n := range j.seen {
		messages += n
	}
	if messages == 0 {
		t.Error("nothing was said")
	}
	t.Logf("%d messages of %d kinds decoded, %d things in them unknown", messages, len(j.seen), len(j.news))
	for _, what := range slices.Sorted(maps.Keys(j.news)) {
		t.Logf("UNKNOWN %s (%d times)", what, j.news[what])
		if *newer == "" {
			t.Errorf("0.160.1 says what its own types do not know: %s", what)
		}
	}
}
