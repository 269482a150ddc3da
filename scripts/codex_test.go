// Package scripts_test proves scripts/codex, with npm and node played by the test, and what scripts/soak tells.
package scripts_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/codexctl/codexctl/codex"
)

// TestMain lets the test binary be node, of which scripts/codex wants one rename.
func TestMain(m *testing.M) {
	if os.Getenv("PLAY_NODE") != "" {
		if err := os.Rename(os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// stage is where one test runs scripts/codex.
type stage struct {
	t     *testing.T
	dir   string
	cache string // what os.UserCacheDir returns there
	env   []string
}

// newStage sets one up. npm is the body of a shell function that finds the folder to install into in $1; empty stands
// for one that installs what the real one does.
func newStage(t *testing.T, npm string) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{t: t, dir: dir}
	if npm == "" {
		npm = "install_codex $1 0.160.1"
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	triple := map[string]string{
		"linux/amd64": "x64/x86_64-unknown-linux-musl", "linux/arm64": "arm64/aarch64-unknown-linux-musl",
		"darwin/amd64": "x64/x86_64-apple-darwin", "darwin/arm64": "arm64/aarch64-apple-darwin",
	}[runtime.GOOS+"/"+runtime.GOARCH]
	cpu, triple, _ := strings.Cut(triple, "/")
	bin := filepath.Join("node_modules", "@openai", "codex-"+runtime.GOOS+"-"+cpu, "vendor", triple, "bin")
	s.write("bin/npm", fmt.Sprintf(`#!/bin/sh
install_codex() {
	mkdir -p "$1/%s" && printf '#!/bin/sh\necho a warning >&2\necho codex-cli %%s\n' "$2" >"$1/%[1]s/codex" && chmod +x "$1/%[1]s/codex"
}
npm() {
	%s
}
echo asked >>"%s/npm-calls"
[ "$1 $2" = "ci --prefix" ] && [ -f "$3/package.json" ] && [ -f "$3/package-lock.json" ] || exit 9
npm "$3"
`, bin, npm, dir))
	s.write("bin/node", fmt.Sprintf("#!/bin/sh\nPLAY_NODE=1 exec '%s' \"$@\"\n", self))
	s.cache = filepath.Join(dir, ".cache")
	if runtime.GOOS == "darwin" {
		s.cache = filepath.Join(dir, "Library", "Caches")
	}
	s.env = []string{"HOME=" + dir, "PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin"}
	return s
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// command prepares a run with env added to the stage's own.
func (s *stage) command(env ...string) *exec.Cmd {
	cmd := exec.Command("./codex")
	cmd.Env = append(slices.Clone(s.env), env...)
	return cmd
}

// run runs scripts/codex and returns what it printed, the lines it wrote to stderr but for the one that says it is
// installing, and its exit status.
func (s *stage) run(env ...string) (path string, complaints []string, status int) {
	s.t.Helper()
	cmd := s.command(env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	for lines := bufio.NewScanner(&stderr); lines.Scan(); {
		if !strings.Contains(lines.Text(), ": installing Codex") {
			complaints = append(complaints, lines.Text())
		}
	}
	return strings.TrimSuffix(string(out), "\n"), complaints, cmd.ProcessState.ExitCode()
}

// calls is how often npm was asked.
func (s *stage) calls() int {
	data, err := os.ReadFile(filepath.Join(s.dir, "npm-calls"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return bytes.Count(data, []byte("\n"))
}

// left lists what is in the cache.
func (s *stage) left() []string {
	entries, err := os.ReadDir(filepath.Join(s.cache, "codexctl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestInstalledCodexIsFoundAgainWithoutNpmAndByTheClient(t *testing.T) {
	s := newStage(t, "")
	path, complaints, status := s.run()
	if status != 0 || complaints != nil || !strings.HasPrefix(path, filepath.Join(s.cache, "codexctl", "codex-0.160.1")+"/") {
		t.Fatalf("installing: %q, %q, status %d", path, complaints, status)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	if again, complaints, status := s.run(); again != path || complaints != nil || status != 0 {
		t.Errorf("second run: %q, %q, status %d; want %q", again, complaints, status, path)
	}
	if s.calls() != 1 || !slices.Equal(s.left(), []string{"codex-0.160.1"}) {
		t.Errorf("npm was asked %d times and left %q", s.calls(), s.left())
	}
	for _, pair := range append(s.env, "XDG_CACHE_HOME=", "CODEX_BIN=") {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	if found, err := codex.FindExecutable(""); found != path || err != nil {
		t.Errorf("the client finds %q (%v), want %q", found, err, path)
	}
}

func TestFourAtOnceInstallOneCopy(t *testing.T) {
	s := newStage(t, "")
	var cmds []*exec.Cmd
	var outs [4]bytes.Buffer
	for i := range outs {
		cmd := s.command()
		cmd.Stdout = &outs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil || outs[i].String() != outs[0].String() || outs[i].Len() == 0 {
			t.Errorf("run %d: %q, %v", i, outs[i].String(), err)
		}
	}
	if s.calls() != 1 || !slices.Equal(s.left(), []string{"codex-0.160.1"}) {
		t.Errorf("npm was asked %d times and left %q", s.calls(), s.left())
	}
}

func TestWhoIsBeatenToTheInstallTakesTheWinnersCopy(t *testing.T) {
	// While npm runs, another that never saw the lock installs.
	s := newStage(t, `install_codex $1 0.160.1; mkdir -p "$HOME/winner"; install_codex "$HOME/winner" 0.160.1
	mv "$HOME/winner" "$(dirname "$(dirname "$1")")/codex-0.160.1"`)
	path, complaints, status := s.run()
	if status != 0 || complaints != nil || path == "" || !slices.Equal(s.left(), []string{"codex-0.160.1"}) {
		t.Errorf("%q, %q, status %d, left %q", path, complaints, status, s.left())
	}
}

func TestRemainsOfAKilledInstallAreClearedAway(t *testing.T) {
	s := newStage(t, "")
	base := filepath.Join(s.cache, "codexctl")
	// No process has this number: it is beyond the highest that linux and macOS give.
	if err := os.MkdirAll(filepath.Join(base, "codex-0.160.1.tmp.99999999", "install"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("99999999", filepath.Join(base, "codex-0.160.1.lock")); err != nil {
		t.Fatal(err)
	}
	// And a copy that somebody has damaged.
	if err := os.MkdirAll(filepath.Join(base, "codex-0.160.1", "node_modules"), 0o755); err != nil {
		t.Fatal(err)
	}
	path, complaints, status := s.run()
	if status != 0 || complaints != nil || path == "" || !slices.Equal(s.left(), []string{"codex-0.160.1"}) {
		t.Errorf("%q, %q, status %d, left %q", path, complaints, status, s.left())
	}
}

func TestFailedInstallSaysWhyInOneLineAndLeavesNothing(t *testing.T) {
	rows := []struct{ name, npm, want string }{
		{"disk full", "echo 'npm error code ENOSPC'; exit 1", "is full"},
		{"no network", "echo 'npm error code ENOTFOUND'; echo 'npm error reason: no such host'; exit 1", "cannot reach its registry"},
		{"another package than pinned", "echo 'npm error code EINTEGRITY'; exit 1", "is not the Codex 0.160.1 that scripts/npm pins"},
		{"npm's own trouble", "echo 'npm ERR! code EOTHER'; echo 'npm ERR! something odd'; exit 7", "something odd"},
		{"nothing for this platform", "mkdir $1/node_modules", "no Codex executable"},
		{"a Codex that does not run", "install_codex $1 '; exit 3'", "does not run here"},
		{"another Codex than asked for", "install_codex $1 0.161.0", "does not run here"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := newStage(t, row.npm)
			path, complaints, status := s.run()
			if status != 1 || path != "" || len(complaints) != 1 || !strings.Contains(complaints[0], row.want) {
				t.Errorf("%q, %q, status %d; want one line with %q", path, complaints, status, row.want)
			}
			if left := s.left(); left != nil {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestStoppedInstallLeavesNothing(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		s := newStage(t, `echo begun >"$HOME/begun"; exec sleep 600`)
		begun := filepath.Join(s.dir, "begun")
		if err := unix.Mkfifo(begun, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := s.command()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Blocks until npm is running.
		if _, err := os.ReadFile(begun); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(signal) || s.left() != nil {
			t.Errorf("after %v: status %d, left %q", signal, code, s.left())
		}
	}
}

func TestNoNpmAndNoCacheDirectoryAreSaidInOneLine(t *testing.T) {
	rows := []struct {
		name string
		env  []string
		want string
	}{
		{"no npm", []string{"PATH=/usr/bin:/bin", "BASH_ENV="}, "npm is not on PATH"},
		{"no HOME", []string{"HOME="}, "HOME"},
		{"a home that is no folder", []string{"HOME=/dev/null"}, "cannot create"},
	}
	if runtime.GOOS != "darwin" {
		rows = append(rows, struct {
			name string
			env  []string
			want string
		}{"relative XDG_CACHE_HOME", []string{"XDG_CACHE_HOME=cache"}, "not an absolute path"})
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := newStage(t, "")
			if row.name == "no npm" {
				// npm may well be in /usr/bin: leave only what else the script uses.
				if err := os.RemoveAll(filepath.Join(s.dir, "bin")); err != nil {
					t.Fatal(err)
				}
				for _, tool := range []string{"bash", "dirname", "uname", "env"} {
					path, err := exec.LookPath(tool)
					if err != nil {
						t.Fatal(err)
					}
					if err := os.MkdirAll(filepath.Join(s.dir, "bin"), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.Symlink(path, filepath.Join(s.dir, "bin", tool)); err != nil {
						t.Fatal(err)
					}
				}
				row.env = []string{"PATH=" + filepath.Join(s.dir, "bin")}
			}
			path, complaints, status := s.run(row.env...)
			if status != 1 || path != "" || len(complaints) != 1 || !strings.Contains(complaints[0], row.want) {
				t.Errorf("%q, %q, status %d; want one line with %q", path, complaints, status, row.want)
			}
		})
	}
}

func TestNamedCodexMustBeSupportedAndIsNeverReplaced(t *testing.T) {
	s := newStage(t, "")
	for said, supported := range map[string]bool{
		"codex-cli 0.160.1": true, "codex-cli 0.160.2": true, "codex-cli 0.160.10": true, "codex-cli 0.160.1+local": true,
		"codex-cli 0.160.0": false, "codex-cli 0.159.9": false, "codex-cli 0.161.0": false, "codex-cli 1.160.1": false,
		"codex-cli 0.160.1-alpha.1": false, "codex-cli 0.160.1 or so": false, "codex 0.160.1": false, "0.160.1": false, "": false,
	} {
		s.write("named", "#!/bin/sh\necho '"+said+"'\n")
		path, complaints, status := s.run("CODEX_BIN=" + filepath.Join(s.dir, "named"))
		if supported != (status == 0) || supported != (path == filepath.Join(s.dir, "named")) || supported != (complaints == nil) {
			t.Errorf("one that says %q: %q, %q, status %d", said, path, complaints, status)
		}
	}
	for _, name := range []string{filepath.Join(s.dir, "missing"), s.dir} {
		if path, complaints, status := s.run("CODEX_BIN=" + name); path != "" || len(complaints) != 1 || status != 1 {
			t.Errorf("CODEX_BIN=%s: %q, %q, status %d", name, path, complaints, status)
		}
	}
	if s.calls() != 0 {
		t.Error("npm was asked although CODEX_BIN was set")
	}
}

func TestPackagesArePinnedByContentAndToNoHost(t *testing.T) {
	locks, err := filepath.Glob("npm/*/package-lock.json")
	if err != nil || len(locks) != 4 {
		t.Fatalf("locks %q, %v; want four", locks, err)
	}
	for _, path := range locks {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var lock struct {
			Packages map[string]struct{ Name, Version, Integrity, Resolved string }
		}
		if err := json.Unmarshal(data, &lock); err != nil {
			t.Fatal(err)
		}
		platform := filepath.Base(filepath.Dir(path))
		p := lock.Packages["node_modules/@openai/codex-"+platform]
		if len(lock.Packages) != 2 || p.Name != "@openai/codex" || p.Version != "0.160.1-"+platform || !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%s pins %+v", path, lock.Packages)
		}
		if bytes.Contains(data, []byte("://")) {
			t.Errorf("%s names a host", path)
		}
	}
}
