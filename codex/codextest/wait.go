package codextest

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// errClosed ends the waits of a model that was closed.
var errClosed = errors.New("the model is closed")

// WaitRequests waits until at least n requests have arrived and returns all that have. It returns early, with an error
// and the requests so far, when the script has failed, the model is closed or ctx ends.
func (m *Model) WaitRequests(ctx context.Context, n int) ([]Request, error) {
	for {
		requests, changed, err := m.look()
		if len(requests) >= n {
			return requests, nil
		}
		if err = m.pause(ctx, changed, err); err != nil {
			return requests, fmt.Errorf("wait for %d requests to the model: %w; it got %s", n, err, list(requests))
		}
	}
}

// WaitRequest waits for a request that match accepts, among those that have arrived and those that will, and returns
// the oldest. It gives up as [Model.WaitRequests] does.
func (m *Model) WaitRequest(ctx context.Context, match func(Request) bool) (Request, error) {
	seen := 0
	for {
		requests, changed, err := m.look()
		for ; seen < len(requests); seen++ {
			if match(requests[seen]) {
				return requests[seen], nil
			}
		}
		if err = m.pause(ctx, changed, err); err != nil {
			return Request{}, fmt.Errorf("wait for a request to the model: %w; it got %s", err, list(requests))
		}
	}
}

// WaitObjective waits for a request whose [Request.Objective] is objective and returns the oldest. It takes no longer
// however many have arrived. It gives up as [Model.WaitRequests] does.
func (m *Model) WaitObjective(ctx context.Context, objective string) (Request, error) {
	for {
		requests, changed, err := m.look()
		if r, told := m.firstTold(objective); told {
			return r, nil
		}
		if err = m.pause(ctx, changed, err); err != nil {
			return Request{}, fmt.Errorf("wait for the model to be told the objective %q: %w; it got %d requests", objective, err, len(requests))
		}
	}
}

func (m *Model) firstTold(objective string) (Request, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, told := m.told[objective]
	if !told {
		return Request{}, false
	}
	return m.requests[i], true
}

// WaitIdle waits until no request is being answered: until every answer has been given in full, or given up because Codex
// hung up. It returns at once if none has arrived. It gives up when ctx ends.
func (m *Model) WaitIdle(ctx context.Context) error {
	for {
		m.mu.Lock()
		underway, changed := m.underway, m.changed
		m.mu.Unlock()
		if underway == 0 {
			return nil
		}
		if err := m.pause(ctx, changed, nil); err != nil {
			return fmt.Errorf("wait for the model to be idle: %w; it is answering %d requests", err, underway)
		}
	}
}

// look returns the requests, a channel that closes when anything changes, and the error that makes waiting pointless.
func (m *Model) look() ([]Request, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := errors.Join(m.failures...)
	if err == nil && m.closed {
		err = errClosed
	}
	return m.requests[:len(m.requests):len(m.requests)], m.changed, err
}

// pause waits for changed unless err or the end of ctx forbids it.
func (m *Model) pause(ctx context.Context, changed <-chan struct{}, err error) error {
	if err != nil {
		return err
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func list(requests []Request) string {
	if len(requests) == 0 {
		return "none"
	}
	lines := make([]string, len(requests))
	for i, r := range requests {
		lines[i] = r.describe()
	}
	return strings.Join(lines, ", ")
}
