package codex

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/codexctl/codexctl/codex/version"
)

// ErrNoExecutable says that no Codex was found in any of the places where [FindExecutable] looks.
var ErrNoExecutable = errors.New("no codex executable found")

// FindExecutable returns the path of the Codex executable that [Start] would run for Options.Path explicit. The first of
// these that is there wins:
//
//  1. explicit, and when it is empty the environment variable CODEX_BIN: a choice that is never replaced by another
//  2. codex on PATH; behind the npm package's Node shim its native binary, when it is where npm puts it
//  3. the copy that scripts/codex keeps in the user's cache directory
//
// It does not ask the executable for its version; [Start] does.
func FindExecutable(explicit string) (string, error) {
	from := "Options.Path"
	if explicit == "" {
		explicit, from = os.Getenv("CODEX_BIN"), "CODEX_BIN"
	}
	if explicit != "" {
		path, err := exec.LookPath(explicit)
		if err != nil {
			return "", fmt.Errorf("%s names no executable: %w", from, err)
		}
		return filepath.Abs(path)
	}
	if path, err := exec.LookPath("codex"); err == nil {
		return native(path)
	}
	if cache, err := os.UserCacheDir(); err == nil {
		if path := vendored(filepath.Join(cache, "codexctl", "codex-"+version.Generated, "node_modules")); path != "" {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w on PATH or in the cache: install it with `npm install -g @openai/codex@%s`, or set CODEX_BIN",
		ErrNoExecutable, version.Generated)
}

// native looks behind the npm shim, which costs a Node process for as long as Codex runs and passes signals on late.
func native(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || filepath.Base(real) != "codex.js" {
		return path, nil
	}
	pkg := filepath.Dir(filepath.Dir(real)) // …/@openai/codex
	for _, modules := range []string{
		filepath.Join(pkg, "node_modules"),   // npm install -g
		filepath.Dir(filepath.Dir(pkg)),      // npm install, hoisted
		filepath.Join(pkg, "..", "..", ".."), // pnpm's store
	} {
		if p := vendored(modules); p != "" {
			return p, nil
		}
	}
	return path, nil
}

// vendored returns the native binary inside a node_modules directory, "" if there is none.
func vendored(modules string) string {
	system, triple := platform()
	path := filepath.Join(modules, "@openai", "codex-"+system, "vendor", triple, "bin", "codex")
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || info.Mode()&fs.FileMode(0o111) == 0 {
		return ""
	}
	return path
}

// image is an executable file as it was when it was started.
type image struct {
	path string // links followed: what Codex takes for its own path
	info fs.FileInfo
}

func imageOf(path string) (image, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return image{}, err
	}
	info, err := os.Stat(real)
	return image{path: real, info: info}, err
}

// replaced is true as well when there is no such file any more. The running process keeps the number of its file from being
// given to another.
func (i image) replaced() bool {
	info, err := os.Stat(i.path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && (!os.SameFile(i.info, info) || i.info.Size() != info.Size())
}

// platform returns the two names that the npm packages give this system.
func platform() (system, triple string) {
	arch, cpu := "x64", "x86_64"
	if runtime.GOARCH == "arm64" {
		arch, cpu = "arm64", "aarch64"
	}
	if runtime.GOOS == "darwin" {
		return "darwin-" + arch, cpu + "-apple-darwin"
	}
	return "linux-" + arch, cpu + "-unknown-linux-musl"
}
