package codextest

import (
	"os"
	"testing"
)

// Binary returns the path of the native Codex that tests run.
func Binary(tb testing.TB) string {
	tb.Helper()
	path := os.Getenv("CODEX_BIN")
	if path == "" {
		tb.Fatal("no Codex to test with: export CODEX_BIN=$(scripts/codex)")
	}
	return path
}
