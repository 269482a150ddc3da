package codex

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// homePatience is how long a start waits for others on the same fresh home. The lock is a courtesy: one that is held for
	// longer, by a process that was suspended perhaps, is not waited for.
	homePatience = 30 * time.Second
	homePause    = 10 * time.Millisecond
)

// home is the directory that an app-server will take for its CODEX_HOME.
type home struct {
	path      string // "" when the environment does not say
	databases string // where it keeps its state
	byDefault bool   // ~/.codex, which Codex makes when it is missing; another it refuses then
}

// homeOf finds what Codex finds for a process with these options.
func homeOf(o *Options) home {
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	value := make(map[string]string)
	for _, entry := range env {
		name, v, _ := strings.Cut(entry, "=")
		value[name] = v // of two the last counts
	}
	h := home{path: value["CODEX_HOME"]}
	if h.path == "" && value["HOME"] != "" {
		h.path, h.byDefault = filepath.Join(value["HOME"], ".codex"), true
	}
	h.path = inDir(o.Dir, h.path)
	if h.databases = inDir(o.Dir, value["CODEX_SQLITE_HOME"]); h.databases == "" {
		h.databases = h.path
	}
	return h
}

func inDir(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// settle makes the directory of skills in a home that exists. Without one each app-server watches the whole home for it to
// come, and every line that one of them logs wakes all others. A home that cannot be written works without.
func (h home) settle() {
	if h.path != "" {
		_ = os.Mkdir(filepath.Join(h.path, "skills"), 0o755)
	}
}

// fresh reports whether no app-server has made its databases yet. First starts at the same time trip over each other there:
// of eight at once on 0.160.1 seven die with "failed to initialize sqlite state runtime". Where config.toml moves the
// databases a home stays fresh for ever, and its starts one at a time.
func (h home) fresh() bool {
	found, _ := filepath.Glob(filepath.Join(escapeGlob(h.databases), "state_*.sqlite"))
	return len(found) == 0
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// turn waits until no other start is under way on a fresh home. It returns with the home locked if this one is still fresh
// then; done ends that. The lock is on the directory itself, so it needs no file and no right to write, and dies with the
// process. The error is that of ctx.
func (h home) turn(ctx context.Context) (done func(), err error) {
	var held []*os.File
	done = func() {
		for _, dir := range held {
			_ = dir.Close()
		}
	}
	if h.path == "" {
		return done, nil
	}
	until := time.Now().Add(homePatience)
	dirs := []string{h.path}
	if h.byDefault {
		dirs = []string{filepath.Dir(h.path), h.path} // the first start there makes the home in the middle of its turn
	}
	for _, path := range dirs {
		dir, err := os.Open(path)
		if err != nil {
			continue // Codex itself says what is wrong with it
		}
		held = append(held, dir)
		if err := lockDir(ctx, dir, until); err != nil {
			done()
			return done, err
		}
	}
	if !h.fresh() {
		done()
		held = nil
	}
	return done, nil
}

// lockDir gives up without an error when it is late, and where there are no locks.
func lockDir(ctx context.Context, dir *os.File, until time.Time) error {
	for {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR && (err != syscall.EWOULDBLOCK || time.Now().After(until)) {
			return nil
		}
		if err := rest(ctx, homePause); err != nil {
			return err
		}
	}
}

// rest waits for half of d to one and a half.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d/2 + rand.N(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
