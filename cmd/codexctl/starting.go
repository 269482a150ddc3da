package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/codexctl/codexctl/codex/control"
	"github.com/codexctl/codexctl/goal"
)

// startIsSlow is how long an owner that does not listen is taken for one that will
// in a moment, or that only looks at what is stored.
const startIsSlow = 2 * time.Second

// starting is the status of a site whose owner does not listen yet, nil of any
// other.
func starting(ctx context.Context, at site) (*control.Snapshot, error) {
	for {
		h := at.holder()
		if h.Socket != at.socket {
			return nil, nil
		}
		conn, err := at.dial(ctx)
		if err == nil {
			return nil, conn.Close()
		}
		if !errors.Is(err, control.ErrNoOwner) {
			return nil, err
		}
		if err := suspended(h); err != nil {
			return nil, err
		}
		if time.Since(h.Since) < startIsSlow {
			select {
			case <-time.After(100 * time.Millisecond):
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		key := at.identity.Key
		s := &control.Snapshot{
			Owner:   &control.Owner{PID: h.Process.PID, Socket: at.socket},
			Project: key.Project, Session: key.Session, Directory: key.Dir,
			State: goal.Unavailable, Label: goal.Unavailable.Label(), Colour: goal.Unavailable.Colour(),
			Now:     fmt.Sprintf("starting, for %s", age(h.Since)),
			Actions: []string{}, Warnings: []string{},
		}
		if servers := requiredServers(at.identity.CodexHome); len(servers) > 0 {
			s.Now += "; required MCP servers: " + strings.Join(servers, ", ")
		}
		return s, nil
	}
}

// requiredServers are the MCP servers that the configuration has Codex wait for
// when a thread starts. 0.160.1 itself names them only when the wait is over.
func requiredServers(home string) (names []string) {
	var config struct {
		Servers map[string]struct {
			Required bool
			Enabled  *bool
		} `toml:"mcp_servers"`
	}
	if _, err := toml.DecodeFile(filepath.Join(home, "config.toml"), &config); err != nil {
		return nil // Codex has its own words for that
	}
	for _, name := range slices.Sorted(maps.Keys(config.Servers)) {
		if s := config.Servers[name]; s.Required && (s.Enabled == nil || *s.Enabled) {
			names = append(names, name)
		}
	}
	return names
}
