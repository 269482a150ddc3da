package codextest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Home is a CODEX_HOME of its own, with a user's home, a temporary directory and a working directory beside it.
type Home struct {
	Path string // the CODEX_HOME
	Work string // an empty directory for threads to work in
	user string
	tmp  string
}

// HomeOptions is what a Home does differently. The zero value is a model called gpt-5.5, a read-only sandbox, no
// approvals and no retries.
type HomeOptions struct {
	// Settings are entries of config.toml: a dotted key ("features.goals") and a value as TOML writes it (`false`,
	// `"on-request"`). They replace the entries that NewHome writes, key by key; an empty value leaves one out.
	Settings map[string]string

	// Tables is TOML that goes behind all entries, for what a dotted key cannot say: [[hooks.PreToolUse]].
	Tables string
}

// settings are the entries that keep Codex 0.160.1 to the model and to this machine. Without those under features it
// looks for plugins at github.com and chatgpt.com as soon as it starts.
func settings(modelURL string) map[string]string {
	return map[string]string{
		"model":                       `"gpt-5.5"`,
		"model_provider":              `"scripted"`,
		"approval_policy":             `"never"`,
		"sandbox_mode":                `"read-only"`,
		"web_search":                  `"disabled"`,
		"check_for_update_on_startup": "false",
		"analytics.enabled":           "false",
		"feedback.enabled":            "false",
		"skills.bundled.enabled":      "false",

		"model_providers.scripted.name":                 `"scripted"`,
		"model_providers.scripted.base_url":             quote(modelURL),
		"model_providers.scripted.wire_api":             `"responses"`,
		"model_providers.scripted.request_max_retries":  "0",
		"model_providers.scripted.stream_max_retries":   "0",
		"model_providers.scripted.requires_openai_auth": "false",

		"features.enable_request_compression":   "false",
		"features.unbounded_connection_retries": "false", // with it a model that is gone is asked for ever
		"features.apps":                         "false",
		"features.plugins":                      "false",
		"features.remote_plugin":                "false",
		"features.plugin_sharing":               "false",
		"features.daemon_auto_start":            "false",
		"features.in_app_updates":               "false",
		"features.system_proxy_fallback":        "false",
		"features.shell_snapshot":               "false", // runs the user's login shell for every thread
	}
}

// NewHome makes a home inside dir, which must exist, for the model at modelURL (see [Model.URL]). Called again for the
// same dir it writes the configuration anew and keeps everything else, so that a second model can go on with the
// threads of the first.
func NewHome(dir, modelURL string, o HomeOptions) (*Home, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("make a codex home: %w", err)
	}
	// Codex reports the paths of threads with symbolic links resolved, and macOS keeps its temporary files behind one.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("make a codex home: %w", err)
	}
	h := &Home{
		Path: filepath.Join(dir, "codex"),
		Work: filepath.Join(dir, "work"),
		user: filepath.Join(dir, "user"),
		tmp:  filepath.Join(dir, "tmp"),
	}
	// Without skills every Codex that runs in the home watches all of it.
	for _, path := range []string{h.Path, filepath.Join(h.Path, "skills"), h.Work, h.user, h.tmp} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, fmt.Errorf("make a codex home: %w", err)
		}
	}
	entries := settings(modelURL)
	maps.Copy(entries, o.Settings)
	var config strings.Builder
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if entries[key] != "" {
			fmt.Fprintf(&config, "%s = %s\n", key, entries[key])
		}
	}
	config.WriteString(o.Tables)
	if err := os.WriteFile(filepath.Join(h.Path, "config.toml"), []byte(config.String()), 0o600); err != nil {
		return nil, fmt.Errorf("make a codex home: %w", err)
	}
	return h, nil
}

// Env is the whole environment for a Codex process in this home. Of the caller's own it passes on PATH and nothing
// else, so that neither credentials nor proxies nor settings of the user reach Codex. (What an administrator put under
// /etc/codex does; no variable turns that off.)
//
// TMPDIR lies outside CODEX_HOME on purpose: Codex 0.160.1 refuses to put its helper programs into a CODEX_HOME that
// is inside the temporary directory, as one made by a test would be.
func (h *Home) Env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + h.user,
		"CODEX_HOME=" + h.Path,
		"TMPDIR=" + h.tmp,
		"LANG=C.UTF-8",
		"TZ=UTC",
	}
}

// quote writes a TOML basic string. A URL has nothing in it that Go and TOML quote differently.
func quote(s string) string { return strconv.Quote(s) }
