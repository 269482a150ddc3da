// Package version is the guard that decides which Codex this module drives.
//
// The wire protocol of `codex app-server` carries no version of its own and
// changes between minor releases, so the only safe statement is the version of
// the executable. The guard is asked twice: of the executable before anything
// is spawned, and of the userAgent of the process that answered initialize,
// because the file may have been replaced in between.
//
// The package imports nothing else of this module but a leaf that cleans
// environments, and keeps no state; every function may be called from any
// goroutine.
package version

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

const (
	// Supported is the range of Codex releases that the generated protocol
	// types describe: 0.160.1 and its later patch releases.
	Supported = "~0.160.1"

	// Generated is the release the protocol types were generated from and the
	// one that an installation message names.
	Generated = "0.160.1"
)

var supported = mustConstraint(Supported)

func mustConstraint(s string) *semver.Constraints {
	c, err := semver.NewConstraint(s)
	if err != nil {
		panic("version: constraint " + s + ": " + err.Error())
	}
	return c
}

// Check reports whether v, a bare semantic version such as "0.160.1", is inside
// [Supported]. Pre-releases are outside it, and so is everything that is not a
// full semantic version. The error is an [*UnsupportedError].
func Check(v string) error {
	parsed, err := semver.StrictNewVersion(v)
	if err != nil || !supported.Check(parsed) {
		return &UnsupportedError{Found: v, Supported: Supported}
	}
	return nil
}

// UnsupportedError says that a Codex was found whose protocol this module does
// not know.
type UnsupportedError struct {
	Found     string // what the executable or the process said, verbatim
	Supported string // the range that would have been accepted
}

// Error names what was found, what is supported and how to install it.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("codex version %q is not supported (need %s): install it with `npm install -g @openai/codex@%s`, or set CODEX_BIN to a supported executable",
		e.Found, e.Supported, Generated)
}
