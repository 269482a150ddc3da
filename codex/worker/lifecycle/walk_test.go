package lifecycle

import (
	"testing"

	"pgregory.net/rapid"
)

// Long walks reach what a breadth-first search is too shallow for: many
// replacements, stops and adopted turns in one life.
func TestLongWalksBreakNoPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.SampledFrom([]Load{LoadNone, Loaded}).Draw(t, "load"), 12)
		w.state.GoalKnown = rapid.Bool().Draw(t, "goal known")
		for range rapid.IntRange(1, 80).Draw(t, "length") {
			moves := w.moves()
			m := rapid.SampledFrom(moves).Draw(t, "move")
			t.Log(m.name)
			next, err := w.play(Step, m)
			if err != nil {
				t.Fatal(err)
			}
			if w = next; w.gone && len(w.moves()) == 0 {
				return
			}
		}
	})
}
