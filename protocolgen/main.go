// Command protocolgen writes the Go types of the Codex app-server protocol.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/codexctl/codexctl/codex/version"
	"github.com/codexctl/codexctl/protocolgen/internal/emit"
	"github.com/codexctl/codexctl/protocolgen/internal/load"
	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "protocolgen:", err)
		os.Exit(1)
	}
}

func run() error {
	s, err := load.FromExecutable(context.Background(), os.Getenv("CODEX_BIN"))
	if err != nil {
		return err
	}
	if err := s.Exactly(version.Generated); err != nil {
		return err
	}
	p, err := model.Build(s, model.Codex())
	if err != nil {
		return err
	}
	files, err := emit.Files(p, emit.Options{Package: "protocol"})
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
