package codextest

import (
	"context"
	"sync"
	"testing"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/version"
)

// Binary returns the path of the Codex that tests run: the one that [codex.FindExecutable] finds, which scripts/codex
// installs if there is none. It must be a version that the module supports. Without one the test fails: a suite that
// runs without Codex proves little.
func Binary(tb testing.TB) string {
	tb.Helper()
	path, err := binary()
	if err != nil {
		tb.Fatalf("no Codex to test with: %v; `export CODEX_BIN=$(scripts/codex)` installs and names one", err)
	}
	return path
}

var binary = sync.OnceValues(func() (string, error) {
	path, err := codex.FindExecutable("")
	if err != nil {
		return "", err
	}
	found, err := version.OfExecutable(context.Background(), path)
	if err != nil {
		return "", err
	}
	return path, version.Check(found)
})
