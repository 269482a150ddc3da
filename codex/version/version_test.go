package version_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/codexctl/codexctl/codex/version"
)

func TestOnlyPatchReleasesOfTheSupportedMinorPass(t *testing.T) {
	for _, v := range []string{"0.160.1", "0.160.2", "0.160.10", "0.160.99"} {
		if err := version.Check(v); err != nil {
			t.Errorf("Check(%q) = %v, want nil", v, err)
		}
	}
	for _, v := range []string{
		"0.160.0", "0.159.9", "0.161.0", "1.160.1", "0.160.1-alpha.1", "0.160.2-alpha.1",
		"", " ", "v0.160.1", "0.160", "0.160.1.1", "00.160.1", "latest", "0.160.1 ", "0.160.x",
	} {
		err := version.Check(v)
		var unsupported *version.UnsupportedError
		if !errors.As(err, &unsupported) {
			t.Errorf("Check(%q) = %v, want *UnsupportedError", v, err)
			continue
		}
		if unsupported.Found != v || unsupported.Supported != "~0.160.1" {
			t.Errorf("Check(%q) carries %+v", v, *unsupported)
		}
		for _, part := range []string{"~0.160.1", "npm install -g @openai/codex@0.160.1", "CODEX_BIN"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("Check(%q): message %q does not say %q", v, err, part)
			}
		}
	}
}

func TestTheGeneratedReleaseIsSupported(t *testing.T) {
	if err := version.Check(version.Generated); err != nil {
		t.Error(err)
	}
}

func TestUserAgentIsReadBehindTheClientNameHoweverItLooks(t *testing.T) {
	const tail = " (Debian 12.0.0; x86_64) xterm (lab; 0.1)"
	rows := []struct{ client, agent, want string }{
		{"lab", "lab/0.160.1" + tail, "0.160.1"},
		{"my client/x", "my client/x/0.160.1" + tail, "0.160.1"},
		{"a/9.9.9 (b", "a/9.9.9 (b/0.160.2" + tail, "0.160.2"},
		{"", "/0.160.1" + tail, "0.160.1"},
		{"lab", "lab/0.161.0-alpha.3" + tail, "0.161.0-alpha.3"},
		// Another name than the one that was sent: an originator that was set from outside.
		{"lab", "codex_vscode/0.160.1" + tail, "0.160.1"},
		{"lab", "an / odd/one (1)/0.160.1" + tail, "0.160.1"},
		{"lab", "other/0.161.0-alpha.3" + tail, "0.161.0-alpha.3"},
	}
	for _, row := range rows {
		got, err := version.FromUserAgent(row.client, row.agent)
		if err != nil || got != row.want {
			t.Errorf("FromUserAgent(%q, %q) = %q, %v; want %q", row.client, row.agent, got, err, row.want)
		}
	}
	for _, row := range []struct{ client, agent string }{
		{"lab", ""}, {"lab", "other (x)"}, {"lab", "other/next (x)"}, {"lab", "other/0.160.1"}, {"lab", "lab/"}, {"lab", "lab/ (x)"}, {"lab", "lab/0.160.1"}, {"lab", "lab 0.160.1 (x)"},
	} {
		if got, err := version.FromUserAgent(row.client, row.agent); err == nil {
			t.Errorf("FromUserAgent(%q, %q) = %q, want an error", row.client, row.agent, got)
		}
	}
}

func TestCommandLineVersionIsReadStrictly(t *testing.T) {
	if got, err := version.FromCLI("codex-cli 0.160.1\n"); err != nil || got != "0.160.1" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, out := range []string{"", "0.160.1", "codex 0.160.1", "codex-cli", "codex-cli 0.160.1 extra", strings.Repeat("x", 9999)} {
		got, err := version.FromCLI(out)
		if err == nil {
			t.Errorf("FromCLI(%q) = %q, want an error", out, got)
		} else if len(err.Error()) > 400 {
			t.Errorf("FromCLI error has %d bytes", len(err.Error()))
		}
	}
}

func TestExecutableIsAskedForItsVersion(t *testing.T) {
	dir := t.TempDir()
	script := func(name, body string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if got, err := version.OfExecutable(context.Background(), script("good", `test "$1" = --version && echo codex-cli 0.160.1`)); err != nil || got != "0.160.1" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := version.OfExecutable(context.Background(), script("angry", "echo no such thing >&2; exit 3")); err == nil || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("error %v does not carry stderr", err)
	}
	if _, err := version.OfExecutable(context.Background(), filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing executable: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := version.OfExecutable(ctx, script("idle", "sleep 60")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
