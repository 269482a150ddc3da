package codex

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/codexctl/codexctl/codex/version"
)

const (
	startAttempts = 4
	startPause    = 100 * time.Millisecond // before the second attempt; twice as long before each next one
)

// Start starts an app-server, makes sure that it is a supported Codex, before it runs and by its own words, and introduces
// the client. ctx bounds that, not the life of the client. An app-server that ends before it has answered has done nothing:
// it is started again, four times in all. On a CODEX_HOME without databases starts wait for each other, also those of other
// processes. After an error nothing was asked of Codex ([DeliveryOf] is [NotSent]); it carries Codex's own words if it ended,
// as an [*ExitError].
func Start(ctx context.Context, o Options) (*Client, error) {
	o = o.withDefaults()
	if o.Dial != nil {
		t, err := o.Dial(ctx)
		if err != nil {
			return nil, err
		}
		c, _, err := begin(ctx, t, o)
		return c, err
	}
	path, err := supportedExecutable(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		c, again, err := launch(ctx, path, o)
		if !again || attempt == startAttempts {
			return c, err
		}
		o.Logger.Warn("codex app-server did not start", "attempt", attempt, "error", err)
		if rest(ctx, startPause<<(attempt-1)) != nil {
			return nil, err
		}
	}
}

func supportedExecutable(ctx context.Context, path string) (string, error) {
	path, err := FindExecutable(path)
	if err != nil {
		return "", err
	}
	v, err := version.OfExecutable(ctx, path)
	if err != nil {
		return "", err
	}
	if err := version.Check(v); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return path, nil
}

// launch makes one attempt. again says that another may do better.
func launch(ctx context.Context, path string, o Options) (c *Client, again bool, err error) {
	h := homeOf(&o)
	done, err := h.turn(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("wait for another start on %s: %w", h.path, err)
	}
	defer done()
	h.settle()
	p, err := spawn(ctx, path, &o)
	if err != nil {
		return nil, errors.Is(err, syscall.ETXTBSY), err // an update is writing it
	}
	return begin(ctx, p, o)
}

// begin introduces the client. again says that the app-server ended by itself without an answer.
func begin(ctx context.Context, t Transport, o Options) (c *Client, again bool, err error) {
	c = connect(t, o)
	err = c.introduce(ctx)
	if err == nil {
		return c, false, nil
	}
	_ = c.Kill()
	<-c.done
	// What became of initialize is nobody's concern: it asks for nothing. What it died of is.
	cause, exit := err, (*ExitError)(nil)
	if d := (*DeliveryError)(nil); errors.As(err, &d) {
		again = d.Delivery != Acknowledged && !errors.Is(err, ErrDeadline) && ctx.Err() == nil
		cause = fmt.Errorf("initialize: %w", d.Err)
	}
	if errors.As(err, &exit) || again && errors.As(t.Err(), &exit) {
		cause = exit
	} else if errors.As(t.Err(), &exit) && exit.Stderr != "" {
		cause = fmt.Errorf("%w\n%s", cause, exit.words())
	}
	return nil, again, fmt.Errorf("start codex app-server: nothing was sent: %w", cause)
}
