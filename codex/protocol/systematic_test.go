package protocol_test

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// systematic makes the instances of a definition that differ in one thing:
// every arm, every member absent, null and present, every known string, the
// bounds of every number, lists and maps of several lengths.
func systematic(b *bundle, name string) []pair {
	m := &maker{b: b, mode: least}
	full := &maker{b: b, mode: most}
	s := b.definitions[name]
	var list []pair
	list = append(list, m.define(name, 0), full.define(name, 0))
	arms := armsOf(s)
	for _, arm := range arms {
		list = append(list, m.arm(s, arm, name, 0), full.arm(s, arm, name, 0))
		list = append(list, m.members(arm, name, func() pair { return m.arm(s, arm, name, 0) })...)
	}
	switch {
	case arms == nil:
		list = append(list, m.members(s, name, func() pair { return m.from(s, name, 0) })...)
	case s["properties"] != nil: // members beside the arms
		list = append(list, m.members(s, name, func() pair { return m.arm(s, arms[0], name, 0) })...)
	}
	return append(list, m.variants(s, name)...)
}

// members varies one member of an object at a time, starting from base.
func (m *maker) members(object any, owner string, base func() pair) []pair {
	o := object.(map[string]any)
	var list []pair
	properties, _ := o["properties"].(map[string]any)
	required := requiredOf(o)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		schema := properties[name]
		for _, st := range statesOf(schema, required[name]) {
			options := []pair{{}}
			if st == value {
				options = m.variants(withoutNull(schema), owner)
			}
			for _, option := range options {
				p := base()
				in, want := p.in.(map[string]any), p.want.(map[string]any)
				delete(in, name)
				delete(want, name)
				if st == value {
					in[name], want[name] = option.in, option.want
				} else {
					m.member(p, name, schema, owner, required[name], st, 0)
				}
				list = append(list, p)
			}
		}
	}
	return list
}

// variants lists the values of a schema that differ in its own choices.
func (m *maker) variants(schema any, owner string) []pair {
	s, ok := schema.(map[string]any)
	if !ok || isAny(s) {
		var list []pair
		for i := range uint64(12) {
			wild := &maker{b: m.b, mode: random, rnd: rand.New(rand.NewPCG(i, 1))}
			list = append(list, same(wild.anything()))
		}
		return list
	}
	if ref, ok := s["$ref"].(string); ok {
		owner = refName(ref)
		return m.variants(m.b.definitions[owner], owner)
	}
	if all, ok := s["allOf"].([]any); ok {
		return m.variants(all[0], owner)
	}
	var list []pair
	add := func(values []any) {
		for _, v := range values {
			list = append(list, same(v))
		}
	}
	if values, ok := s["enum"].([]any); ok {
		add(values)
		return list
	}
	if arms := armsOf(s); arms != nil {
		for _, arm := range arms {
			list = append(list, m.arm(s, arm, owner, 1))
			if a := arm.(map[string]any); a["enum"] != nil {
				list = append(list, m.variants(a, owner)...)
			}
		}
		return list
	}
	switch typesOf(s)[0] {
	case "string":
		add(texts(s))
	case "boolean":
		add([]any{false, true})
	case "integer", "number":
		add(numbers(s))
	case "array":
		for n := range 4 {
			list = append(list, m.list(s["items"], owner, n, 1))
		}
	case "null":
		add([]any{nil})
	default:
		list = append(list, m.from(s, owner, 1), (&maker{b: m.b, mode: most}).from(s, owner, 1))
	}
	return list
}

// samples makes n random instances of a definition, the same ones every time.
func samples(b *bundle, name string, n int) []pair {
	seed := uint64(len(name))
	for _, r := range name {
		seed = seed*31 + uint64(r)
	}
	m := &maker{b: b, mode: random, rnd: rand.New(rand.NewPCG(seed, 2))}
	var list []pair
	for range n {
		list = append(list, m.define(name, 0))
	}
	return list
}
