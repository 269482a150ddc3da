package journal_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// A writer process is killed at a random moment after some acknowledged
// record, again and again on the same log.
func TestKilledWriterLosesNoAcknowledgedRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "log")
	total, torn := 0, 0
	for round := range 25 {
		acknowledged := killWriter(t, path, total+1+rand.IntN(12))
		log, records, tail := mustOpen(t, path)
		log.Close()
		if len(records) < acknowledged {
			t.Fatalf("round %d: record %d was acknowledged, the log holds %d", round, acknowledged, len(records))
		}
		// One record may be on disk though its acknowledgement was never read.
		if len(records) > acknowledged+1 {
			t.Fatalf("round %d: record %d was the last acknowledged, yet the log holds %d", round, acknowledged, len(records))
		}
		checkSteps(t, records, len(records))
		if tail.Dropped() {
			torn++
		}
		total = len(records)
	}
	t.Logf("25 kills, %d records, %d torn tails", total, torn)
}

// killWriter runs a writer until it has told of record until, kills it, and
// returns the last record it told of.
func killWriter(t *testing.T, path string, until int) (acknowledged int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(fmt.Errorf("writer said %q: %w", lines.Text(), err))
		}
		acknowledged = n
		if n == until {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || stderr.Len() > 0 {
		t.Fatalf("writer ended by itself (%v): %s", err, stderr.String())
	}
	return acknowledged
}
