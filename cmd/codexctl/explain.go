package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/codexctl/codexctl/codex/control"
)

// explain adds to an unknown delivery what a readback finds. The worker has ended
// its app-server by then; a new one looks, and sends nothing again.
func (o *operateOptions) explain(ctx context.Context, at site, l *link, err error) error {
	if codeOf(err) != exitUnknown {
		return err
	}
	_ = l.close() // once; whoever opened it hears of an error
	// An owner whose delivery is unknown ends; reading back is for the next one.
	openErr := awaitNoOwner(ctx, at)
	var again *link
	if openErr == nil {
		again, openErr = o.visit(ctx, at, o.key)
	}
	if openErr != nil {
		return &exitError{exitUnknown, fmt.Errorf("%w; it could not be read back: %w", err, openErr)}
	}
	defer again.close()
	var found []string
	if again.own != nil {
		for _, r := range again.own.worker.Recovered() {
			found = append(found, control.RecoveredText(r))
		}
	}
	if len(found) == 0 {
		found = []string{"codexctl status shows what is there"}
	}
	return &exitError{exitUnknown, fmt.Errorf("%w; read back: %s", err, strings.Join(found, "; "))}
}
