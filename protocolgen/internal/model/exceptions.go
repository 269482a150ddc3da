package model

import (
	"fmt"
	"maps"
	"slices"
)

// Exceptions are the decisions that no rule makes. The zero value has none;
// [Codex] returns those for the real protocol. An entry that the schema does not
// ask for makes [Build] fail: it has outlived what it was made for.
type Exceptions struct {
	Results    map[string]Entry[string] // request method → result type
	Names      map[string]Entry[string] // "Union/tag" or "Enum/value" → Go name, without the type's name in front
	Arms       map[string]Entry[string] // "Union/index" → name of an arm that the schema does not name
	Members    map[string]Entry[string] // "Type.member" or "Arm.member" → the name that Codex really uses
	Open       map[string]Entry[bool]   // object → has members that the schema does not describe
	Unions     map[string]Entry[[]Pick] // untagged union → how to tell its arms apart
	Reads      map[string]Entry[bool]   // request method → reads rather than mutates
	Deprecated map[string]Entry[bool]   // method → deprecated
}

// Entry is one exception and the reason for it, which must be given.
type Entry[T any] struct {
	Value  T
	Reason string
}

// used remembers which exceptions were needed.
type used map[string]bool

func lookup[T any](u used, table string, entries map[string]Entry[T], key string) (T, bool) {
	e, ok := entries[key]
	if ok {
		u[table+" "+key] = true
	}
	return e.Value, ok
}

// check returns an error that names an entry nobody asked for, or one without a
// reason.
func (e *Exceptions) check(u used) error {
	for _, table := range []struct {
		name    string
		reasons map[string]string
	}{
		{"results", reasons(e.Results)}, {"names", reasons(e.Names)}, {"arms", reasons(e.Arms)}, {"members", reasons(e.Members)}, {"open", reasons(e.Open)},
		{"unions", reasons(e.Unions)}, {"reads", reasons(e.Reads)}, {"deprecated", reasons(e.Deprecated)},
	} {
		for _, key := range slices.Sorted(maps.Keys(table.reasons)) {
			switch reason := table.reasons[key]; {
			case reason == "":
				return fmt.Errorf("exceptions, %s: the entry %q gives no reason", table.name, key)
			case !u[table.name+" "+key]:
				return fmt.Errorf("exceptions, %s: the entry %q (%s) matches nothing in this schema: remove it", table.name, key, reason)
			}
		}
	}
	return nil
}

func reasons[T any](entries map[string]Entry[T]) map[string]string {
	list := map[string]string{}
	for key, e := range entries {
		list[key] = e.Reason
	}
	return list
}
