package codex

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/codexctl/codexctl/codex/version"
)

// script writes an executable that stands in for Codex.
func script(t *testing.T, dir, name, body string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWrongExecutableIsRefusedBeforeItRuns(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	for name, row := range map[string]struct{ body, says string }{
		"older":      {`[ "$1" = --version ] && echo codex-cli 0.159.0 || touch ` + ran, "0.159.0"},
		"newer":      {`[ "$1" = --version ] && echo codex-cli 0.161.0 || touch ` + ran, "0.161.0"},
		"prerelease": {`[ "$1" = --version ] && echo codex-cli 0.160.1-alpha.1 || touch ` + ran, "0.160.1-alpha.1"},
		"garbage":    {`[ "$1" = --version ] && echo hello || touch ` + ran, "hello"},
		"fails":      {`[ "$1" = --version ] && exit 3 || touch ` + ran, "exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Start(t.Context(), Options{Path: script(t, dir, name, row.body)})
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("it ran")
			}
		})
	}
}

func TestCommandsOfADeadServerDoNotHoldTheConnectionOpen(t *testing.T) {
	dir := t.TempDir()
	path := script(t, dir, "codex", `[ "$1" = --version ] && { echo codex-cli 0.160.1; exit; }
sleep 1000 &
echo $! >`+filepath.Join(dir, "pid")+`
read line
echo "out of luck" >&2
exit 7`)
	_, err := Start(t.Context(), Options{Path: path})
	var exit *ExitError
	if !errors.As(err, &exit) || exit.State.ExitCode() != 7 || !strings.HasSuffix(err.Error(), "out of luck") {
		t.Errorf("%v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if id, err := IdentifyProcess(pid); err != nil || !id.Alive() {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command is still running")
		}
	}
}

func TestExplicitExecutableHasNoFallback(t *testing.T) {
	dir := t.TempDir()
	there := script(t, dir, "there", "exit 0")
	onPath := script(t, dir, "bin/codex", "exit 0")
	missing := filepath.Join(dir, "missing")
	for name, row := range map[string]struct{ option, env, path, want string }{
		"option":            {there, missing, "", there},
		"missing option":    {missing, there, filepath.Dir(onPath), ""},
		"environment":       {"", there, filepath.Dir(onPath), there},
		"missing from it":   {"", missing, filepath.Dir(onPath), ""},
		"on PATH":           {"", "", filepath.Dir(onPath), onPath},
		"nowhere":           {"", "", dir, ""},
		"directory, option": {dir, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CODEX_BIN", row.env)
			t.Setenv("PATH", row.path)
			t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
			t.Setenv("HOME", dir)
			got, err := FindExecutable(row.option)
			if got != row.want || (err != nil) != (row.want == "") {
				t.Errorf("%q, %v", got, err)
			}
			if name == "nowhere" && (!errors.Is(err, ErrNoExecutable) || !strings.Contains(err.Error(), "npm install")) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestNativeExecutableIsFoundBehindTheShimAndInTheCache(t *testing.T) {
	system, triple := platform()
	tail := filepath.Join("@openai", "codex-"+system, "vendor", triple, "bin", "codex")
	for name, native := range map[string]string{
		"global": "lib/node_modules/@openai/codex/node_modules/" + tail,
		"local":  "lib/node_modules/" + tail,
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			want := script(t, dir, native, "exit 0")
			shim := script(t, dir, "lib/node_modules/@openai/codex/bin/codex.js", "exit 1")
			link := filepath.Join(dir, "bin", "codex")
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(shim, link); err != nil {
				t.Fatal(err)
			}
			t.Setenv("CODEX_BIN", "")
			t.Setenv("PATH", filepath.Dir(link))
			if got, err := FindExecutable(""); err != nil || got != want {
				t.Errorf("%s, %v; want %s", got, err, want)
			}
			if err := os.Remove(want); err != nil {
				t.Fatal(err)
			}
			if got, err := FindExecutable(""); err != nil || got != link {
				t.Errorf("without it: %s, %v; want the shim", got, err)
			}
		})
	}
	t.Run("cache", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("CODEX_BIN", "")
		t.Setenv("PATH", dir)
		t.Setenv("XDG_CACHE_HOME", dir)
		t.Setenv("HOME", dir)
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		want := script(t, cache, filepath.Join("codexctl", "codex-"+version.Generated, "node_modules", tail), "exit 0")
		if got, err := FindExecutable(""); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	})
}
