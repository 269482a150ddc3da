package codex

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/codexctl/codexctl/codex/protocol"
)

// configWarningsKept bounds what [Client.ConfigWarnings] holds: a few come with the start, and one with a thread now and then.
const configWarningsKept = 64

// configWarnings are the first of them. A subscription that is made after the start would miss those of the start.
type configWarnings struct {
	mu  sync.Mutex
	all []*protocol.ConfigWarningNotification
}

func (w *configWarnings) note(n *protocol.ConfigWarningNotification) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) < configWarningsKept {
		w.all = append(w.all, n)
	}
}

// ConfigWarnings returns what the app-server has said of its configuration so far, oldest first and at most 64, whether or
// not anybody had subscribed. 0.160.1 says what it finds at its start right behind the answer to initialize: all of that is
// there when any later call has been answered.
func (c *Client) ConfigWarnings() []*protocol.ConfigWarningNotification {
	c.config.mu.Lock()
	defer c.config.mu.Unlock()
	return slices.Clone(c.config.all)
}

// ConfigError says that Codex could not read its configuration and goes on without all of it: model, provider, sandbox and
// approvals are then its defaults and not what the user has chosen.
type ConfigError struct {
	Summary string
	Details string // where and what, usually; may be empty
}

func (e *ConfigError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("codex cannot read its configuration: %s: %s", strings.TrimSuffix(e.Summary, "."), e.Details), ": ")
}

// CheckConfig returns a [*ConfigError] if the app-server runs on defaults because its configuration is broken, and nil if it
// does not. It asks the app-server for something small first, so that it has said all; another error is that call's.
func CheckConfig(ctx context.Context, c *Client) error {
	_, err := Call(ctx, c, protocol.ThreadLoadedListMethod, protocol.ThreadLoadedListParams{})
	if refused := (*RPCError)(nil); err != nil && !errors.As(err, &refused) { // a refusal comes behind the warnings as well
		return fmt.Errorf("check codex's configuration: %w", err)
	}
	for _, w := range c.ConfigWarnings() {
		if strings.HasPrefix(w.Summary, "Invalid configuration") {
			e := &ConfigError{Summary: w.Summary}
			if w.Details != nil {
				e.Details = *w.Details
			}
			return e
		}
	}
	return nil
}
