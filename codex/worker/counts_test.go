package worker_test

import (
	"flag"
	"testing"
)

// How often the experiments on the real Codex are run: a sample by default, the
// full counts by scripts/soak.
var (
	replacements = flag.Int("replacements", 12, "live replacements in one goal")
	boundaries   = flag.Int("boundaries", 3, "pauses, clears and stops at turn boundaries, each")
	kills        = flag.Int("kills", 1, "kills at each moment of the kill matrix")
)

// row prints one line of the table that scripts/soak collects.
func row(t *testing.T, experiment string, n int, result string) {
	t.Helper()
	t.Logf("ROW | %s | %d | %s |", experiment, n, result)
}
