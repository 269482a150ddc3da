package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/protocolgen/internal/diff"
	"github.com/codexctl/codexctl/protocolgen/internal/load"
)

// protocolPath is the package whose uses a comparison looks for.
const protocolPath = "github.com/codexctl/codexctl/codex/protocol"

// compare prints what changes from one protocol to another.
type compare struct {
	old, new string
	json     bool
}

func (c *compare) run(ctx context.Context, stdout io.Writer) error {
	old, err := read(ctx, c.old)
	if err != nil {
		return err
	}
	newer, err := read(ctx, c.new)
	if err != nil {
		return err
	}
	root, err := moduleRoot(".")
	if err != nil {
		return err
	}
	uses, err := diff.Scan(root, protocolPath)
	if err != nil {
		return err
	}
	report := diff.Compare(old, newer, uses)
	if !c.json {
		return report.Page(stdout)
	}
	if err := json.MarshalWrite(stdout, report, jsontext.Multiline(true)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout)
	return err
}

// read loads a protocol from an executable, a schema directory or a bundle. It
// passes over keywords it does not know: a comparison has to work just when
// Codex has moved on.
func read(ctx context.Context, path string) (*load.Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		path = filepath.Join(path, load.BundleFile)
		if info, err = os.Stat(path); err != nil {
			return nil, fmt.Errorf("no schema bundle in that directory: %w", err)
		}
	}
	if info.Mode()&0o111 != 0 && filepath.Ext(path) != ".json" {
		return load.FromExecutable(ctx, path, load.Lenient)
	}
	b, err := load.ReadBundle(path, load.Lenient)
	if err != nil {
		return nil, err
	}
	return &load.Source{Experimental: b}, nil
}
