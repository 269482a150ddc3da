package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// Key says whose worker it is. Equal keys share one.
type Key struct {
	Project string `json:"project"` // any text; "" is one project like another
	Session string `json:"session"` // the host's name for a line of work
	Dir     string `json:"dir"`     // where Codex works; must exist
}

// Identity is a key on this machine: the same key under another CODEX_HOME is
// another identity.
type Identity struct {
	Key       Key    `json:"key"` // Dir absolute, without links
	CodexHome string `json:"codexHome"`
}

// Identify makes the identity of key for an app-server that is started in key.Dir
// with the environment env, each entry KEY=value; nil is that of this process. It
// fails if Dir is not a directory.
func Identify(key Key, env []string) (Identity, error) {
	id, err := IdentifyStored(key, env)
	if err != nil {
		return Identity{}, err
	}
	info, err := os.Stat(id.Key.Dir)
	if err != nil {
		return Identity{}, fmt.Errorf("working directory: %w", err)
	}
	if !info.IsDir() {
		return Identity{}, fmt.Errorf("working directory: %s is not a directory", id.Key.Dir)
	}
	return id, nil
}

// IdentifyStored is Identify for those who begin no work: Dir may be gone, and is
// then taken as it is written, but for links on the way to it.
func IdentifyStored(key Key, env []string) (Identity, error) {
	dir, err := canonical(key.Dir)
	if err != nil {
		return Identity{}, fmt.Errorf("working directory: %w", err)
	}
	key.Dir = dir
	home, err := codexHome(env, dir)
	if err != nil {
		return Identity{}, err
	}
	return Identity{Key: key, CodexHome: home}, nil
}

// Hash names the identity in file names: 32 hexadecimal digits.
func (id Identity) Hash() string {
	h := sha256.New()
	for _, part := range []string{id.CodexHome, id.Key.Project, id.Key.Session, id.Key.Dir} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	sum := h.Sum(nil)
	return hex.EncodeToString(sum[:16])
}

// codexHome finds what Codex itself uses when it is started in dir: $CODEX_HOME,
// else .codex in the user's home. 0.160.1 takes a relative one from its own working
// directory, and an empty variable for none.
func codexHome(env []string, dir string) (string, error) {
	home := lookup(env, "CODEX_HOME")
	if home == "" {
		of, err := userHome(env)
		if err != nil {
			return "", fmt.Errorf("no Codex home: %w; set CODEX_HOME to the directory Codex keeps its state in", err)
		}
		home = filepath.Join(of, ".codex")
	}
	if !filepath.IsAbs(home) {
		home = filepath.Join(dir, home)
	}
	return canonical(home)
}

// userHome is $HOME, else what the system knows of the user.
func userHome(env []string) (string, error) {
	if home := lookup(env, "HOME"); home != "" {
		return home, nil
	}
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return "", fmt.Errorf("HOME is not set: %w", err)
	}
	if u.HomeDir == "" {
		return "", errors.New("HOME is not set")
	}
	return u.HomeDir, nil
}

// lookup reads a variable of the environment that a child gets: env, or that of
// this process if env is nil. The last entry wins, as it does with os/exec.
func lookup(env []string, name string) string {
	if env == nil {
		return os.Getenv(name)
	}
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// maxLinks is how many links a path may have, as for Linux itself.
const maxLinks = 40

// canonical makes path absolute and follows its links, also when its end does not
// exist yet: making it later must not change the identity.
func canonical(path string) (string, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for links := 0; links <= maxLinks; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest), nil
		}
		dir := filepath.Dir(at)
		if target, err := os.Readlink(at); err == nil { // to what is not there yet
			links++
			if !filepath.IsAbs(target) {
				// The directory of a link exists, and a .. of its target is that of
				// the real one.
				if dir, err = filepath.EvalSymlinks(dir); err != nil {
					return "", err
				}
				target = filepath.Join(dir, target)
			}
			at = target
			continue
		}
		if at == dir {
			return filepath.Join(at, rest), nil
		}
		at, rest = dir, filepath.Join(filepath.Base(at), rest)
	}
	return "", fmt.Errorf("%s: too many links", path)
}
