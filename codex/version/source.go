package version

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/codexctl/codexctl/codex/internal/outer"
)

// versionTimeout bounds `codex --version` for callers whose context has no
// deadline. The native binary answers in about 20 ms, the Node shim in 300 ms.
const versionTimeout = 20 * time.Second

// FromUserAgent returns the Codex version inside the userAgent of an initialize
// result. Codex copies the client's own name verbatim in front of it:
//
//	<client name>/<codex version> (<os>; <arch>) <terminal> (<client name>; <client version>)
//
// The name may itself contain "/" and spaces, so the caller has to say which
// name it sent. CODEX_INTERNAL_ORIGINATOR_OVERRIDE puts another name there, and
// so does a server that was introduced by another client before: then the first
// thing that looks like a version is it. The version is returned as it stands,
// not checked.
func FromUserAgent(clientName, userAgent string) (string, error) {
	rest, ok := strings.CutPrefix(userAgent, clientName+"/")
	if !ok {
		found := agentVersion.FindStringSubmatch(userAgent)
		if found == nil {
			return "", fmt.Errorf("read codex version: none in user agent %q", userAgent)
		}
		return found[1], nil
	}
	v, _, ok := strings.Cut(rest, " ")
	if !ok || v == "" {
		return "", fmt.Errorf("read codex version: no version after the client name in user agent %q", userAgent)
	}
	return v, nil
}

var agentVersion = regexp.MustCompile(`/(\d+\.\d+\.\d+[^ /]*) \(`)

// FromCLI returns the version inside what `codex --version` prints, which is
// "codex-cli <version>" and a line end. Anything else is an error. The version
// is returned as it stands, not checked.
func FromCLI(output string) (string, error) {
	fields := strings.Fields(output)
	if len(fields) != 2 || fields[0] != "codex-cli" {
		return "", fmt.Errorf("read codex version: expected \"codex-cli VERSION\", got %q", clip(output))
	}
	return fields[1], nil
}

// OfExecutable runs `path --version` and returns the version it prints, not
// checked. It waits at most 20 s, less if ctx ends sooner. The error says what
// the executable printed when it was not a version.
func OfExecutable(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = outer.Environ(os.Environ())
	cmd.WaitDelay = time.Second // a grandchild of a shim may hold the pipe open
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctxErr := ctx.Err(); ctxErr != nil {
			err = errors.Join(ctxErr, err)
		}
		if text := strings.TrimSpace(stderr.String()); text != "" {
			return "", fmt.Errorf("ask %s for its version: %w: %s", path, err, clip(text))
		}
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	v, err := FromCLI(string(out))
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	return v, nil
}

func clip(s string) string {
	const limit = 200
	if len(s) > limit {
		return s[:limit] + "…"
	}
	return s
}
