package journal_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/codexctl/codexctl/codex/journal"
)

// writerEnv makes the test binary a writer: it appends to the log it names
// until it is killed, and tells the number of each acknowledged record.
const writerEnv = "JOURNAL_TEST_WRITER"

// compactingEnv makes it one whose log has a State.
const compactingEnv = "JOURNAL_TEST_COMPACTING"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		if err := writeForEver(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if path := os.Getenv(compactingEnv); path != "" {
		if err := countForEver(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func writeForEver(path string) error {
	log, records, _, err := journal.Open(path)
	if err != nil {
		return err
	}
	for n := len(records) + 1; ; n++ {
		r, err := journal.New("step", payload(n))
		if err != nil {
			return err
		}
		if err := log.Append(r); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func countForEver(path string) error {
	c := &counter{}
	log, _, err := journal.OpenInto(context.Background(), path, c)
	if err != nil {
		return err
	}
	for {
		if err := log.Append(big(c.Count)); err != nil {
			return err
		}
		fmt.Println(c.Count)
	}
}
