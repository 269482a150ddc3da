package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/codexctl/codexctl/codex/version"
	"github.com/codexctl/codexctl/protocolgen/internal/emit"
	"github.com/codexctl/codexctl/protocolgen/internal/load"
	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

// packageName is the package that the types are generated for.
const packageName = "protocol"

// generate rewrites the generated files of a directory.
type generate struct {
	codex        string
	out          string
	descriptions bool
}

func (g *generate) run(ctx context.Context, stderr io.Writer) error {
	codex, err := g.executable(ctx, stderr)
	if err != nil {
		return err
	}
	source, err := load.FromExecutable(ctx, codex, load.Strict)
	if err != nil {
		return err
	}
	if err := source.Exactly(version.Generated); err != nil {
		return err
	}
	p, err := model.Build(source, model.Codex())
	if err != nil {
		return err
	}
	files, err := emit.Files(p, emit.Options{Package: packageName, Descriptions: g.descriptions})
	if err != nil {
		return err
	}
	return write(g.out, files)
}

// executable finds the Codex to generate from. A Codex that was named is used
// or refused; there is no second choice.
func (g *generate) executable(ctx context.Context, stderr io.Writer) (string, error) {
	if g.codex != "" {
		return g.codex, nil
	}
	if path := os.Getenv("CODEX_BIN"); path != "" {
		return path, nil
	}
	root, err := moduleRoot(".")
	if err != nil {
		return "", err
	}
	script := filepath.Join(root, "scripts", "codex")
	cmd := exec.CommandContext(ctx, script)
	cmd.Stderr = stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find a Codex with %s: %w (or set CODEX_BIN)", script, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// moduleRoot returns the directory at or above dir that holds go.mod.
func moduleRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("no go.mod at or above %s: run inside the module", dir)
		}
	}
}

// write replaces the generated files in dir. It touches nothing else, and not
// what would stay the same.
func write(dir string, files map[string][]byte) error {
	old, err := filepath.Glob(filepath.Join(dir, "*_gen.go"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if _, stays := files[filepath.Base(path)]; stays {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what is no longer generated: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, files[name]) {
			continue
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return fmt.Errorf("write generated file: %w", err)
		}
	}
	return nil
}
