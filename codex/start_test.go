package codex_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// wrapped makes an executable that runs script for each app-server, as a shell, before it becomes the one at path.
func wrapped(t *testing.T, path, script string) string {
	t.Helper()
	wrapper := filepath.Join(t.TempDir(), "codex")
	body := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = app-server ]; then\n%s\nfi\nexec '%s' \"$@\"\n", script, path)
	if err := os.WriteFile(wrapper, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	return wrapper
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// Eight that start a fresh home at once all do, and none by being tried again: 0.160.1 by itself lets one live.
func TestRealStartsAtOnceOnAFreshHome(t *testing.T) {
	bin := codextest.Binary(t)
	for name, exists := range map[string]bool{"a home that is there": true, "no home yet": false} {
		t.Run(name, func(t *testing.T) {
			const times = 8
			dir := t.TempDir()
			log, at := filepath.Join(dir, "log"), filepath.Join(dir, ".codex")
			env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + t.TempDir()}
			if exists {
				at = filepath.Join(dir, "codex [1]") // a pattern, if it were taken for one
				env = append(env, "CODEX_HOME="+at)
				if err := os.Mkdir(at, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			o := codex.Options{Path: wrapped(t, bin, "echo started >> '"+log+"'"), Env: env}
			var wg sync.WaitGroup
			for range times {
				wg.Go(func() {
					c, err := codex.Start(t.Context(), o)
					if err != nil {
						t.Error(err)
						return
					}
					defer c.Close()
					if _, err := codex.Call(t.Context(), c, protocol.ThreadLoadedListMethod, protocol.ThreadLoadedListParams{}); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if n := len(linesOf(t, log)); n != times {
				t.Errorf("%d processes for %d starts", n, times)
			}
			if _, err := os.Stat(filepath.Join(at, "skills")); err != nil {
				t.Error(err)
			}
		})
	}
}

// peerPath is a peer with a process of its own and the options that start it.
func peerPath(t *testing.T) codex.Options {
	t.Helper()
	peer, err := codextest.NewPeerProcess(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o, err := peer.Options()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const sqliteError = `Error: failed to initialize sqlite state runtime under /h: failed to initialize state runtime at /h

Caused by:
    0: error returned from database
    1: (code: 5) database is locked`

// dies is a shell script that ends as 0.160.1 does when its state cannot be had.
const dies = `cat >&2 <<'END'
WARNING: proceeding, even though we could not create PATH aliases
` + sqliteError + `

Stack backtrace:
   0: <unknown>
   1: <unknown>
  11: <unknown>
END
exit 1
`

func TestStartThatDidNothingIsTriedAgain(t *testing.T) {
	for _, deaths := range []int{3, 4} {
		t.Run(fmt.Sprint(deaths), func(t *testing.T) {
			o := peerPath(t)
			log := filepath.Join(t.TempDir(), "log")
			o.Path = wrapped(t, o.Path, fmt.Sprintf("echo x >> '%s'\nif [ $(wc -l < '%s') -le %d ]; then\n%s\nfi", log, log, deaths, dies))
			c, err := codex.Start(t.Context(), o)
			if n := len(linesOf(t, log)); n != 4 {
				t.Errorf("%d attempts", n)
			}
			if deaths == 3 {
				if err != nil {
					t.Fatal(err)
				}
				_ = c.Close()
				return
			}
			var exit *codex.ExitError
			if !errors.As(err, &exit) || exit.Stderr != sqliteError {
				t.Fatalf("%v", err)
			}
			if says := err.Error(); !strings.Contains(says, "nothing was sent") || strings.Contains(says, "outcome is unknown") ||
				codex.DeliveryOf(err) != codex.NotSent {
				t.Errorf("%s", says)
			}
		})
	}
}

func TestStartThatIsRefusedOrCannotBeIsNotTriedAgain(t *testing.T) {
	peer, err := codextest.NewPeerProcess(t.TempDir(), codextest.On("initialize").Refuse(-32600, "no"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := peer.Options()
	if err != nil {
		t.Fatal(err)
	}
	var refused *codex.RPCError
	if _, err := codex.Start(t.Context(), o); !errors.As(err, &refused) || frames(t, peer, "initialize") != 1 {
		t.Errorf("%v after %d attempts", err, frames(t, peer, "initialize"))
	}
}

func TestMarksOfAnOuterCodexAreNotPassedOn(t *testing.T) {
	dir := t.TempDir()
	for mark, value := range map[string]string{
		"CODEX_THREAD_ID": "1", "CODEX_SANDBOX": "seatbelt", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE": "x", "CODEX_ACCESS_TOKEN": "kept",
	} {
		t.Setenv(mark, value)
	}
	for name, given := range map[string]bool{"inherited": false, "given": true} {
		t.Run(name, func(t *testing.T) {
			o := peerPath(t)
			log := filepath.Join(dir, name)
			wrapper := filepath.Join(t.TempDir(), "codex") // notes the environment of `--version` as well
			body := fmt.Sprintf("#!/bin/sh\nenv >> '%s'\nexec '%s' \"$@\"\n", log, o.Path)
			if err := os.WriteFile(wrapper, []byte(body), 0o700); err != nil {
				t.Fatal(err)
			}
			o.Path = wrapper
			if !given {
				for _, entry := range o.Env {
					if key, value, _ := strings.Cut(entry, "="); os.Getenv(key) != value {
						t.Setenv(key, value)
					}
				}
				o.Env = nil
			}
			c, err := codex.Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
			kept := 0
			for _, entry := range linesOf(t, log) {
				switch key, _, _ := strings.Cut(entry, "="); {
				case entry == "CODEX_ACCESS_TOKEN=kept":
					kept++
				case slices.Contains([]string{"CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE"}, key):
					t.Errorf("passed on: %s", entry)
				}
			}
			if kept != 2 {
				t.Errorf("the token was passed on %d times", kept)
			}
		})
	}
}

func TestServerThatEndsWithoutAFaultIsQuotedToo(t *testing.T) {
	c, _ := process(t, codex.Options{}, codextest.On("thread/goal/clear").Stderr("ERROR out of luck\n", 1).HangUp())
	_, err := codex.Call(t.Context(), c, protocol.ThreadGoalClearMethod, protocol.ThreadGoalClearParams{ThreadID: "T"})
	<-c.Done()
	var exit *codex.ExitError
	if !errors.As(err, &exit) || exit.Err != nil || exit.Stderr != "ERROR out of luck" || !errors.As(c.Err(), &exit) {
		t.Errorf("%v; client: %v", err, c.Err())
	}
}

func TestSkillsAreMadeInAHomeThatExistsOnly(t *testing.T) {
	for _, home := range []string{"there", "relative", "absent"} {
		t.Run(home, func(t *testing.T) {
			dir := t.TempDir()
			at := filepath.Join(dir, home)
			if home != "absent" {
				if err := os.Mkdir(at, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			o := peerPath(t)
			o.Dir, o.Env = dir, append(o.Env, "CODEX_HOME="+at)
			if home == "relative" { // to where the process runs
				o.Env = append(o.Env, "CODEX_HOME="+home)
			}
			c, err := codex.Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
			if _, err := os.Stat(filepath.Join(at, "skills")); (err == nil) != (home != "absent") {
				t.Error(err)
			}
		})
	}
}
