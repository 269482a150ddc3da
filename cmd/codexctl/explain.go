package main

import (
	"context"
	"fmt"
	"strings"
)

// explain adds to an unknown delivery what a readback finds. The worker has ended
// its app-server by then; a new one looks, and sends nothing again.
func (o *operateOptions) explain(ctx context.Context, at site, l *link, err error) error {
	if codeOf(err) != exitUnknown {
		return err
	}
	again, openErr := o.reopen(ctx, at, l)
	if openErr != nil {
		return &exitError{exitUnknown, fmt.Errorf("%w; it could not be read back: %w", err, openErr)}
	}
	defer again.close()
	var found []string
	if again.own != nil {
		for _, r := range again.own.worker.Recovered() {
			found = append(found, r.String())
		}
	}
	if len(found) == 0 {
		found = []string{"codexctl status shows what is there"}
	}
	return &exitError{exitUnknown, fmt.Errorf("%w; read back: %s", err, strings.Join(found, "; "))}
}

// reopen ends a link whose owner ends, unless it is nil, and is the next owner for
// a moment: reading back is for the next one.
func (o *operateOptions) reopen(ctx context.Context, at site, l *link) (*link, error) {
	if l != nil {
		_ = l.close() // once; whoever opened it hears of an error
	}
	if err := awaitNoOwner(ctx, at); err != nil {
		return nil, err
	}
	return o.visit(ctx, at, o.key)
}
