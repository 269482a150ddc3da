package worker_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// How often the experiments on the real Codex are run: a sample by default, the
// full counts by scripts/soak.
var (
	replacements = flag.Int("replacements", 9, "live replacements in goals of each end")
	boundaries   = flag.Int("boundaries", 3, "pauses, clears and stops at turn boundaries, each")
	starts       = flag.Int("starts", 2, "new objectives on a stored active goal")
	kills        = flag.Int("kills", 1, "kills at each moment of the kill matrix")
	recordFile   = flag.String("record", "", "append each replacement and kill that kept its promises to this file")
)

// row prints one line of the table that scripts/soak collects.
func row(t *testing.T, experiment string, n int, result string) {
	t.Helper()
	t.Logf("ROW | %s | %d | %s |", experiment, n, result)
}

// record appends lines of tab-separated fields to the record file, if there is one,
// in one write: what is in it has happened and been checked.
func record(t *testing.T, lines ...[]string) {
	t.Helper()
	if *recordFile == "" || t.Failed() {
		return
	}
	var text strings.Builder
	for _, fields := range lines {
		text.WriteString(strings.Join(fields, "\t") + "\n")
	}
	f, err := os.OpenFile(*recordFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text.String()); err != nil {
		t.Fatal(err)
	}
}

// distances says where changes were written, seen from a turn's end, in words.
func distances(from []time.Duration) string {
	if len(from) == 0 {
		return "none"
	}
	from = slices.Sorted(slices.Values(from))
	before, _ := slices.BinarySearch(from, 0)
	at := func(share float64) float64 {
		return float64(from[int(share*float64(len(from)-1))]) / float64(time.Millisecond)
	}
	return fmt.Sprintf("min %.1f, median %.1f, p95 %.1f, max %.1f ms behind the turn's end; %d before it, %d behind",
		at(0), at(.5), at(.95), at(1), before, len(from)-before)
}
