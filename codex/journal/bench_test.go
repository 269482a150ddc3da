package journal_test

import (
	"path/filepath"
	"testing"

	"github.com/codexctl/codexctl/codex/journal"
)

// One append is one write and one fsync: the disk's figure more than ours.
func BenchmarkAppend(b *testing.B) {
	log, _, _, err := journal.Open(filepath.Join(b.TempDir(), "state", "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	r, err := journal.New("step", payload(3))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := log.Append(r); err != nil {
			b.Fatal(err)
		}
	}
}
