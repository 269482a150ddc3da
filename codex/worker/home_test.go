package worker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/worker"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asked starts Codex in dir with env and returns the home that it says it uses.
func asked(t *testing.T, dir string, env []string) string {
	t.Helper()
	c, err := codex.Start(t.Context(), codex.Options{Path: codextest.Binary(t), Dir: dir, Env: env})
	must(t, err)
	defer c.Close()
	return c.Server().CodexHome
}

func TestIdentityNamesTheHomeThatCodexUses(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir := filepath.Join(base, "work")
	for _, d := range []string{"work/rel", "work/user", "home", "user"} {
		must(t, os.MkdirAll(filepath.Join(base, d), 0o700))
	}
	must(t, os.Symlink("home", filepath.Join(base, "link")))
	// Of this process alone: a child with an environment of its own never sees it.
	t.Setenv("CODEX_HOME", filepath.Join(base, "elsewhere"))
	t.Setenv("HOME", filepath.Join(base, "nobody"))
	path := "PATH=" + os.Getenv("PATH")
	for name, env := range map[string][]string{
		"absolute":          {path, "CODEX_HOME=" + filepath.Join(base, "home")},
		"linked":            {path, "CODEX_HOME=" + filepath.Join(base, "link")},
		"relative":          {path, "CODEX_HOME=rel"},
		"the user's":        {path, "HOME=" + filepath.Join(base, "user")},
		"empty":             {path, "CODEX_HOME=", "HOME=" + filepath.Join(base, "user")},
		"a relative user's": {path, "HOME=user"},
		"the last of two":   {path, "CODEX_HOME=rel", "CODEX_HOME=" + filepath.Join(base, "home")},
	} {
		id, err := worker.Identify(worker.Key{Dir: dir}, env)
		must(t, err)
		if uses := asked(t, dir, env); id.CodexHome != uses {
			t.Errorf("%s: the identity names %s, Codex uses %s", name, id.CodexHome, uses)
		}
	}
	if id, err := worker.Identify(worker.Key{Dir: dir}, nil); err != nil || id.CodexHome != filepath.Join(base, "elsewhere") {
		t.Errorf("with this process's own environment: %+v, %v", id, err)
	}
}

func TestALinkKeepsItsIdentityOnceItsTargetExists(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(base, "real", "sub"), 0o700))
	must(t, os.Symlink("real/sub", filepath.Join(base, "sub")))
	must(t, os.Symlink("../later", filepath.Join(base, "real", "sub", "near"))) // real/later
	must(t, os.Symlink(filepath.Join(base, "far", "off"), filepath.Join(base, "absolute")))
	must(t, os.Symlink("round", filepath.Join(base, "round")))
	for link, target := range map[string]string{"sub/near": "real/later", "absolute": "far/off", "sub/missing": "real/sub/missing"} {
		env := []string{"CODEX_HOME=" + filepath.Join(base, link)}
		before, err := worker.Identify(worker.Key{Dir: base}, env)
		must(t, err)
		must(t, os.MkdirAll(filepath.Join(base, target), 0o700))
		if after, err := worker.Identify(worker.Key{Dir: base}, env); err != nil || after.Hash() != before.Hash() {
			t.Errorf("%s was %s and is %s, %v", link, before.CodexHome, after.CodexHome, err)
		}
	}
	if id, err := worker.Identify(worker.Key{Dir: base}, []string{"CODEX_HOME=" + filepath.Join(base, "round")}); err == nil {
		t.Errorf("a link to itself is taken for %s", id.CodexHome)
	}
}

func TestAnAppServerOfAnotherHomeIsRefused(t *testing.T) {
	t.Parallel()
	m, err := worker.NewManager(worker.Options{
		StateDir: filepath.Join(t.TempDir(), "state"),
		Codex:    codex.Options{Dial: codextest.NewPeer().Dial, Env: []string{"CODEX_HOME=/mine"}},
	})
	must(t, err)
	defer m.Close(context.Background())
	if _, err := m.Worker(t.Context(), worker.Key{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "/mine") || !strings.Contains(err.Error(), "/fake") {
		t.Errorf("got %v, want an error with both homes", err)
	}
}

func TestOneThreadHasOneOwnerWhateverTheStateDirectory(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	w := d.worker()
	d.wait(d.prompt(w, "hello"))
	elsewhere := d.opts
	elsewhere.StateDir = filepath.Join(t.TempDir(), "state")
	m, err := worker.NewManager(elsewhere)
	must(t, err)
	defer m.Close(context.Background())
	var owned *worker.OwnedError
	if _, err := m.Adopt(d.ctx, d.key(), w.Thread()); !errors.As(err, &owned) || owned.Owner.PID != os.Getpid() || !strings.Contains(err.Error(), "this process") {
		t.Errorf("a second owner of the thread: %v", err)
	}
	must(t, w.Close(d.ctx))
	second, err := m.Adopt(d.ctx, d.key(), w.Thread())
	must(t, err)
	if _, err := d.manager.Worker(d.ctx, d.key()); !errors.Is(err, worker.ErrOwned) {
		t.Errorf("the first one again, beside the second: %v", err)
	}
	d.wait(d.prompt(second, "and now"))
	locks := filepath.Join(d.home.Path, "codexctl")
	for path, mode := range map[string]os.FileMode{"": os.ModeDir | 0o700, "threads": os.ModeDir | 0o700, "threads/" + w.Thread(): 0o600} {
		if info, err := os.Stat(filepath.Join(locks, path)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", filepath.Join(locks, path), info, err)
		}
	}
}

func TestARelativeStateDirectoryStaysWhereItWas(t *testing.T) {
	base := t.TempDir()
	t.Chdir(base)
	must(t, os.Mkdir("other", 0o700))
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	d.opts.StateDir = "state"
	d.open()
	t.Chdir(filepath.Join(base, "other"))
	w := d.worker()
	if _, err := os.Stat(worker.IdentityDir(filepath.Join(base, "state"), w.Identity())); err != nil {
		t.Errorf("the state is not where the manager was made: %v", err)
	}
}

func TestAStateDirectoryThatOthersCouldChangeIsRefused(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(state string) (bad string, err error){
		"open state directory": func(state string) (string, error) {
			return state, errors.Join(os.Mkdir(state, 0o700), os.Chmod(state, 0o777))
		},
		"open workers": func(state string) (string, error) {
			bad := filepath.Join(state, "workers")
			return bad, errors.Join(os.MkdirAll(bad, 0o700), os.Chmod(bad, 0o777))
		},
		"linked workers": func(state string) (string, error) {
			bad := filepath.Join(state, "workers")
			return bad, errors.Join(os.MkdirAll(state, 0o700), os.Mkdir(state+"-real", 0o700), os.Symlink(state+"-real", bad))
		},
		"linked state directory": func(state string) (string, error) {
			return state, errors.Join(os.Mkdir(state+"-real", 0o700), os.Symlink(state+"-real", state))
		},
	} {
		state := filepath.Join(t.TempDir(), "state")
		bad, err := prepare(state)
		must(t, err)
		m, err := worker.NewManager(worker.Options{StateDir: state, Codex: codex.Options{Dial: codextest.NewPeer().Dial, Env: []string{"CODEX_HOME=/fake"}}})
		must(t, err)
		if _, err := m.Worker(t.Context(), worker.Key{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), bad+" is not private") {
			t.Errorf("%s: got %v", name, err)
		}
		must(t, m.Close(context.Background()))
	}
}

func TestAnOwnerRemovesNoNoteButItsOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, codextest.Always(codextest.Reply{codextest.Text("Yes.")}))
	w := d.worker()
	dir := worker.IdentityDir(d.opts.StateDir, w.Identity())
	must(t, os.Rename(d.opts.StateDir, d.opts.StateDir+"-moved"))
	next, err := worker.NewManager(d.opts)
	must(t, err)
	defer next.Close(context.Background())
	if _, err := next.Worker(d.ctx, d.key()); err != nil {
		t.Fatalf("an owner in the new state directory: %v", err)
	}
	must(t, w.Close(d.ctx))
	if s, err := worker.ReadStored(dir); err != nil || s.Owner.PID != os.Getpid() {
		t.Errorf("the note of the next owner after the first one's end: %+v, %v", s.Owner, err)
	}
}
