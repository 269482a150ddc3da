// Command protocolgen writes the Go types of the Codex app-server protocol from
// the JSON schema that a Codex executable dumps.
//
//	protocolgen [-codex PATH] [-out DIR] [-descriptions]
//	protocolgen -diff [-json] OLD NEW
//
// The first form rewrites the *_gen.go files of DIR, byte for byte the same from
// the same Codex. It refuses any Codex but the one release the module is made
// for, and any schema keyword it does not understand. Without -codex it takes
// $CODEX_BIN, else what scripts/codex of this module prints.
//
// The second form says what a newer Codex adds, removes and retypes, and which
// of that the code of this module uses. OLD and NEW are Codex executables,
// directories that `codex app-server generate-json-schema` wrote, or the bundle
// file in one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "protocolgen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("protocolgen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var g generate
	var d compare
	flags.StringVar(&g.codex, "codex", "", "Codex executable to generate from (default $CODEX_BIN, else scripts/codex)")
	flags.StringVar(&g.out, "out", ".", "directory whose *_gen.go files are rewritten")
	flags.BoolVar(&g.descriptions, "descriptions", false, "add Codex's own descriptions to the comments, for a build of your own")
	diffing := flags.Bool("diff", false, "compare two protocols: protocolgen -diff OLD NEW")
	flags.BoolVar(&d.json, "json", false, "print the comparison as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *diffing {
		// Flags may also follow the operands: protocolgen -diff OLD NEW --json.
		operands := flags.Args()
		if len(operands) > 2 {
			if err := flags.Parse(operands[2:]); err != nil {
				return err
			}
			operands = append(operands[:2:2], flags.Args()...)
		}
		if len(operands) != 2 {
			return errors.New("-diff needs two operands, OLD and NEW: executables, schema directories or bundle files")
		}
		d.old, d.new = operands[0], operands[1]
		return d.run(ctx, stdout)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return g.run(ctx, stderr)
}
