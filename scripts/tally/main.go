// Command tally reads what `go test -json` prints on stdin, shows one line a package and the output of everything that
// failed, and writes the counts "passed failed" to the file that its only argument names.
//
// It counts tests and subtests that have no subtests of their own, so that nothing counts twice. A skipped test counts
// as failed: a suite that leaves something out has not passed. So does a package that fails though no test of it did,
// because it does not build, leaks or runs out of time.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -json ./... | tally FILE")
		os.Exit(2)
	}
	t, err := run(os.Stdin, os.Stdout)
	if err == nil {
		err = os.WriteFile(os.Args[1], fmt.Appendf(nil, "%d %d\n", t.passed, t.failed), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

func run(events io.Reader, out io.Writer) (*tally, error) {
	t := &tally{out: out, tests: make(map[key]*outcome), builds: make(map[string][]string)}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil && e.Action != "" {
				t.add(e)
			} else {
				fmt.Fprint(out, string(line)) // go's own words, when it cannot even begin
			}
		}
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read test events: %w", err)
		}
	}
}
