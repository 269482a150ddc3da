package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
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

// Identify makes the identity of key for an app-server that is started with env
// added to this process's environment. It fails if Dir is not a directory.
func Identify(key Key, env []string) (Identity, error) {
	dir, err := canonical(key.Dir)
	if err != nil {
		return Identity{}, fmt.Errorf("working directory: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return Identity{}, fmt.Errorf("working directory: %w", err)
	}
	if !info.IsDir() {
		return Identity{}, fmt.Errorf("working directory: %s is not a directory", dir)
	}
	key.Dir = dir
	home, err := codexHome(env)
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

// codexHome finds what Codex itself would use: $CODEX_HOME, else ~/.codex.
func codexHome(env []string) (string, error) {
	home := lookup(env, "CODEX_HOME")
	if home == "" {
		user := lookup(env, "HOME")
		if user == "" {
			return "", fmt.Errorf("neither CODEX_HOME nor HOME is set; set CODEX_HOME to the directory Codex keeps its state in")
		}
		home = filepath.Join(user, ".codex")
	}
	return canonical(home)
}

func lookup(env []string, name string) string {
	value := os.Getenv(name)
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// canonical makes path absolute and follows its links, also when its end does not
// exist yet: making it later must not change the identity.
func canonical(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for dir, rest := abs, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest), nil
		}
		if dir == filepath.Dir(dir) {
			return abs, nil
		}
	}
}
