package load

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/codexctl/codexctl/codex/version"
)

// FromExecutable dumps both bundles from a Codex executable and parses them. It
// does not judge the version; see [Source.Exactly]. A dump takes about 0.1 s.
func FromExecutable(ctx context.Context, codex string, strict Strictness) (*Source, error) {
	v, err := version.OfExecutable(ctx, codex)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "protocolgen")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	source := &Source{Version: v}
	if source.Stable, err = dump(ctx, codex, dir, "stable", strict); err != nil {
		return nil, err
	}
	if source.Experimental, err = dump(ctx, codex, dir, "experimental", strict, "--experimental"); err != nil {
		return nil, err
	}
	if strict == Lenient { // how the two differ is then for a report to say
		return source, nil
	}
	return source, source.check()
}

// Exactly returns an error unless the source came from the given release.
func (s *Source) Exactly(want string) error {
	if s.Version != want {
		return fmt.Errorf("the types are generated from Codex %s alone, and this is %s: set CODEX_BIN to a Codex %s", want, s.Version, want)
	}
	return nil
}

// check makes sure that the stable bundle is a part of the experimental one.
func (s *Source) check() error {
	for name := range s.Stable.Definitions {
		if s.Experimental.Definitions[name] == nil {
			return fmt.Errorf("definition %s is stable but missing from the experimental bundle", name)
		}
	}
	return nil
}

func dump(ctx context.Context, codex, dir, name string, strict Strictness, flags ...string) (*Bundle, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out := filepath.Join(dir, name)
	cmd := exec.CommandContext(ctx, codex, append([]string{"app-server", "generate-json-schema", "--out", out}, flags...)...)
	// A home of its own: the user's configuration must not change the dump.
	cmd.Env = append(os.Environ(), "CODEX_HOME="+dir)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("dump the %s schema of %s: %w: %s", name, codex, err, strings.TrimSpace(string(text)))
	}
	return ReadBundle(filepath.Join(out, BundleFile), strict)
}
