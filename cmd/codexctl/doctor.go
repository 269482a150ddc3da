package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/codex/worker"
)

type doctorOptions struct {
	streams streams
	key     keyOptions
	json    bool
}

// checkup is the JSON of codexctl doctor.
type checkup struct {
	OK     bool    `json:"ok"`
	Checks []check `json:"checks"`

	code exitCode
}

// check is one thing looked at.
type check struct {
	Name   string `json:"name"`
	Result string `json:"result"` // ok, warning or failed
	Detail string `json:"detail"`
	Remedy string `json:"remedy"` // "" where none is needed
}

func newDoctor(s streams) *cobra.Command {
	o := &doctorOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what codexctl and Codex need, and what was left behind",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	o.key.register(cmd.Flags())
	_ = cmd.Flags().MarkHidden("thread")
	return cmd
}

func runDoctor(ctx context.Context, o *doctorOptions) error {
	state, err := stateDir(o.streams)
	if err != nil {
		return err
	}
	dir, err := o.key.path(o.streams)
	if err != nil {
		return err
	}
	id, err := worker.IdentifyStored(o.key.in(o.streams, dir), nil)
	if err != nil {
		return err
	}
	c := &checkup{OK: true}
	c.codex(ctx, id.CodexHome)
	c.state(state)
	c.sockets(ctx, state)
	c.workers(state)
	if o.json {
		if err := writeJSON(o.streams.out, c); err != nil {
			return err
		}
		return silently(c.code)
	}
	marks := map[string]string{"ok": "✓", "warning": "!", "failed": "✗"}
	for _, check := range c.Checks {
		fmt.Fprintf(o.streams.out, "%s %-11s %s\n", marks[check.Result], check.Name, check.Detail)
		if check.Remedy != "" {
			fmt.Fprintf(o.streams.out, "  %-11s → %s\n", "", check.Remedy)
		}
	}
	return silently(c.code)
}

func (c *checkup) add(name, result, detail, remedy string) {
	c.Checks = append(c.Checks, check{Name: name, Result: result, Detail: detail, Remedy: remedy})
}

func (c *checkup) ok(name, detail string)           { c.add(name, "ok", detail, "") }
func (c *checkup) warn(name, detail, remedy string) { c.add(name, "warning", detail, remedy) }

func (c *checkup) fail(name, detail, remedy string, code exitCode) {
	c.add(name, "failed", detail, remedy)
	c.OK = false
	if c.code == exitOK || code == exitNoCodex {
		c.code = code
	}
}

// codex looks at everything that needs the executable.
func (c *checkup) codex(ctx context.Context, home string) {
	switch err := unix.Access(home, unix.W_OK|unix.X_OK); {
	case err == nil:
		c.ok("codex home", home)
		c.skills(home)
	case errors.Is(err, fs.ErrNotExist):
		c.warn("codex home", home+" does not exist yet", "run: codex login")
	default:
		c.fail("codex home", fmt.Sprintf("%s cannot be written: %v", home, err), "make it yours, or set CODEX_HOME", exitFailed)
	}
	found, err := findCodex(ctx)
	if err != nil {
		c.fail("codex", oneLine(err), "npm install -g @openai/codex@0.160.1, or set CODEX_BIN", exitNoCodex)
		return
	}
	c.ok("codex", found.version+" at "+found.path)
	c.sandbox(ctx, found.path)
	c.login(ctx, found.path)
}

func (c *checkup) login(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := codex.Start(ctx, codex.Options{Path: path, Dir: anywhere(), Client: codex.ClientInfo{Version: moduleVersion()}})
	if err != nil {
		c.fail("app-server", oneLine(err), "what it says above its end is Codex's own; see its configuration", exitFailed)
		return
	}
	defer client.Close()
	c.ok("app-server", "starts")
	c.config(ctx, client)
	switch err := checkLogin(ctx, client); {
	case err == nil:
		c.ok("login", "there is one, stored and not tried, or none is needed")
	case errors.Is(err, errNoLogin):
		c.fail("login", "there is none", "run: codex login", exitFailed)
	default:
		c.warn("login", oneLine(err), "run: codex login status")
	}
}

// config tells what Codex says of its configuration by itself.
func (c *checkup) config(ctx context.Context, client *codex.Client) {
	var broken *codex.ConfigError
	switch err := codex.CheckConfig(ctx, client); {
	case err == nil:
		c.ok("config", "read")
	case errors.As(err, &broken):
		c.fail("config", oneLine(broken), "mend the file: until then Codex runs on its defaults, and codexctl begins no work", exitFailed)
	default:
		c.fail("config", oneLine(err), "", exitFailed)
	}
}

// skills looks for the directory whose absence has each Codex watch the whole home.
func (c *checkup) skills(home string) {
	path := filepath.Join(home, "skills")
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		c.ok("skills", path)
		return
	}
	c.warn("skills", path+" does not exist: each Codex watches all of its home, and wakes all others with each line it logs",
		"nothing to do: the next start makes it")
}

// sandbox has Codex run a command in its sandbox that does nothing.
func (c *checkup) sandbox(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	nothing, err := exec.LookPath("true")
	if err != nil {
		c.warn("sandbox", "not tried: there is no true on PATH", "")
		return
	}
	cmd := exec.CommandContext(ctx, path, "sandbox", "--", nothing)
	cmd.Dir = anywhere()
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.warn("sandbox", fmt.Sprintf("a command in it failed: %v: %s", err, lastLine(out)),
			"see Codex's sandbox prerequisites; --sandbox chooses another")
		return
	}
	c.ok("sandbox", "runs commands")
}

// state looks at the private state directory.
func (c *checkup) state(dir string) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.ok("state", dir+" does not exist yet")
	case err != nil:
		c.fail("state", err.Error(), "name another place with CODEXCTL_STATE", exitFailed)
	case !info.IsDir():
		c.fail("state", dir+" is not a directory", "move it away, or name another place with CODEXCTL_STATE", exitFailed)
	case unix.Access(dir, unix.W_OK|unix.X_OK) != nil:
		c.fail("state", dir+" cannot be written", "make it yours, or name another place with CODEXCTL_STATE", exitFailed)
	default:
		c.ok("state", dir)
	}
}

// sockets looks for those whose owner is gone.
func (c *checkup) sockets(ctx context.Context, state string) {
	var paths []string
	for _, dir := range control.SocketDirs(state) {
		found, err := filepath.Glob(filepath.Join(dir, "*.sock"))
		if err != nil {
			c.fail("sockets", err.Error(), "", exitFailed)
			return
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		conn, err := control.Dial(ctx, path)
		switch {
		case errors.Is(err, control.ErrNoOwner):
			c.warn("socket", path+": its owner is gone", "nothing to do: the next owner replaces it")
		case err != nil:
			c.fail("socket", err.Error(), "remove it: "+path, exitFailed)
		default:
			conn.Close()
			c.ok("socket", path+": an owner listens")
		}
	}
}

func lastLine(out []byte) string {
	text := oneLine(errors.New(string(out)))
	const most = 200
	if len(text) > most {
		text = "…" + text[len(text)-most:]
	}
	return text
}
