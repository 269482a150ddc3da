package model

import (
	"fmt"
	"maps"
	"slices"
)

// entry is a decision that no rule makes, with the reason for it. An entry that
// no schema asked for is an error: it has outlived what it was made for.
type entry[T any] struct {
	value  T
	reason string
}

// table is a list of exceptions and remembers which were needed.
type table[T any] struct {
	name    string
	entries map[string]entry[T]
	used    map[string]bool
}

func newTable[T any](name string, entries map[string]entry[T]) *table[T] {
	return &table[T]{name: name, entries: entries, used: map[string]bool{}}
}

func (t *table[T]) get(key string) (T, bool) {
	e, ok := t.entries[key]
	if ok {
		t.used[key] = true
	}
	return e.value, ok
}

// unused returns an error that names an entry nobody asked for.
func (t *table[T]) unused() error {
	for _, key := range slices.Sorted(maps.Keys(t.entries)) {
		if !t.used[key] {
			return fmt.Errorf("exception table %q: the entry %q (%s) matches nothing in this schema: remove it", t.name, key, t.entries[key].reason)
		}
	}
	return nil
}

// Exceptions are the decisions that the schema alone does not make. The zero
// value has none; [Codex] returns those for the real protocol.
type Exceptions struct {
	results    *table[string] // request method → result type
	names      *table[string] // "Union/wire" or "Enum/wire" → Go name without the type's name
	unions     *table[[]Pick] // untagged union → how to tell its arms apart
	arms       *table[string] // "Union/index" → name of an arm that the schema does not name
	reads      *table[bool]   // request method → reads rather than mutates
	deprecated *table[bool]   // method → deprecated
}

func (e *Exceptions) unused() error {
	for _, check := range []func() error{
		e.results.unused, e.names.unused, e.unions.unused, e.arms.unused, e.reads.unused, e.deprecated.unused,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// None returns empty tables.
func None() *Exceptions {
	return &Exceptions{
		results:    newTable[string]("results", nil),
		names:      newTable[string]("names", nil),
		unions:     newTable[[]Pick]("unions", nil),
		arms:       newTable[string]("arms", nil),
		reads:      newTable[bool]("reads", nil),
		deprecated: newTable[bool]("deprecated", nil),
	}
}
