// Package outer keeps the marks of an outer Codex off an inner one. What Codex runs, a command or an MCP server, finds its
// thread, its sandbox and its originator in the environment; a Codex that is started from there would take them for its own.
package outer

import (
	"slices"
	"strings"
)

// marks are the variables that 0.160.1 sets for what it runs, or reads as having been set by another part of itself. A list
// of what to drop, since one of what to keep would lose credentials: CODEX_ACCESS_TOKEN, CODEX_API_KEY and whatever is next.
var marks = []string{"CODEX_THREAD_ID", "CODEX_NETWORK_PROXY_ACTIVE"}

var markPrefixes = []string{"CODEX_SANDBOX", "CODEX_INTERNAL_", "CODEX_MANAGED_"}

// Environ returns env, entries of the form KEY=value, without the marks. It leaves env alone.
func Environ(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(marks, name) ||
			slices.ContainsFunc(markPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}
