// Codexctl drives the goals of OpenAI Codex from scripts and from a terminal.
//
// Results go to standard output, everything else to standard error; the exit
// code tells outcomes apart. See codexctl help exit-codes, help json and help
// environment.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

func main() { os.Exit(int(execute(context.Background(), systemStreams(), os.Args[1:]))) }

// execute runs one command line and reports its error, if it has one to show.
func execute(ctx context.Context, s streams, args []string) exitCode {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code := exitOK
	if err != nil {
		code = codeOf(err)
	}
	if err != nil && !errors.Is(err, errShown) {
		fmt.Fprintf(s.err, "codexctl: %s\n", oneLine(err))
	}
	return s.finish(code)
}
