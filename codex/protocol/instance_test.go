package protocol_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// pair is a value that the schema allows and what it must look like after a
// round trip: the same, but without the nulls that say no more than absence.
type pair struct{ in, want any }

func same(v any) pair { return pair{v, v} }

// mode is how a maker decides what a schema leaves open.
type mode int

const (
	least  mode = iota // only what is required
	most               // all there is, one level deep
	random             // anything
)

// drift is what a newer Codex may have that this one has not.
type drift struct {
	members bool // every object has a member more
	strings bool // every string with known values has another one
	arms    bool // every union has another arm
	gaps    bool // what is required is missing
}

// maker makes instances of schemas.
type maker struct {
	b     *bundle
	mode  mode
	rnd   *rand.Rand
	drift drift
}

const deepest = 6

// define makes an instance of a definition.
func (m *maker) define(name string, depth int) pair {
	return m.from(m.b.definitions[name], name, depth)
}

// from makes an instance of a schema that stands inside the definition owner.
func (m *maker) from(schema any, owner string, depth int) pair {
	s, ok := schema.(map[string]any)
	if !ok || isAny(s) {
		return same(m.anything())
	}
	if ref, ok := s["$ref"].(string); ok {
		return m.define(refName(ref), depth+1)
	}
	if all, ok := s["allOf"].([]any); ok {
		return m.from(all[0], owner, depth)
	}
	if values, ok := s["enum"].([]any); ok {
		if m.drift.strings {
			return same("new in Codex 9")
		}
		return same(values[m.choose(len(values), depth)])
	}
	if arms := armsOf(s); arms != nil {
		if m.drift.arms && s["oneOf"] != nil {
			return same(m.newArm(s, owner))
		}
		return m.arm(s, arms[m.choose(len(arms), depth)], owner, depth)
	}
	kinds := typesOf(s)
	if len(kinds) > 1 && m.mode == random && m.rnd.IntN(3) == 0 {
		return same(nil)
	}
	switch kinds[0] {
	case "null":
		return same(nil)
	case "string":
		return same(m.oneOf(texts(s), depth))
	case "boolean":
		return same(m.oneOf([]any{false, true}, depth))
	case "integer", "number":
		return same(m.oneOf(numbers(s), depth))
	case "array":
		return m.list(s["items"], owner, m.length(depth), depth)
	}
	return m.object(s, owner, depth)
}

// arm makes an instance of one arm, with the members that lie beside it.
func (m *maker) arm(s map[string]any, arm any, owner string, depth int) pair {
	p := m.from(arm, owner, depth)
	if m.drift.strings && s["oneOf"] == nil && strings.HasPrefix(owner, "McpElicitation") {
		p.want = p.in // these strings tell the arms apart, so the arm is unknown and kept as it is
	}
	if s["properties"] == nil {
		return p
	}
	beside := maps.Clone(s)
	delete(beside, "oneOf")
	delete(beside, "anyOf")
	q := m.object(beside, owner, depth)
	merge(q, p)
	return q
}

func merge(into, from pair) {
	maps.Copy(into.in.(map[string]any), from.in.(map[string]any))
	maps.Copy(into.want.(map[string]any), from.want.(map[string]any))
}

func (m *maker) list(items any, owner string, n, depth int) pair {
	in, want := []any{}, []any{}
	for range n {
		p := m.from(items, owner, depth+1)
		in, want = append(in, p.in), append(want, p.want)
	}
	return pair{in, want}
}

func (m *maker) object(s map[string]any, owner string, depth int) pair {
	in, want := map[string]any{}, map[string]any{}
	p := pair{in, want}
	required := requiredOf(s)
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if isTag(properties[name]) {
			tag := properties[name].(map[string]any)["enum"].([]any)[0]
			in[name], want[name] = tag, tag
			continue
		}
		states := statesOf(properties[name], required[name] && !m.drift.gaps)
		m.member(p, name, properties[name], owner, required[name], states[m.choose(len(states), depth)], depth)
	}
	if extra, ok := s["additionalProperties"]; ok && properties == nil && extra != false {
		for i := range m.length(depth) {
			v := m.from(extra, owner, depth+1)
			key := []string{"key", "", "ключ \"/\" \\", "k3"}[i%4]
			in[key], want[key] = v.in, v.want
		}
	} else if m.drift.members {
		added := []any{nil, map[string]any{"deep": json.Number("1")}}
		in["newInCodex9"] = added
		if _, ok := open[owner]; ok {
			want["newInCodex9"] = added
		}
	}
	return p
}

// isTag reports whether a member holds the constant that names an arm.
func isTag(schema any) bool {
	s, _ := schema.(map[string]any)
	values, _ := s["enum"].([]any)
	return len(values) == 1
}

// newArm is a value of a oneOf union that none of its arms describes.
func (m *maker) newArm(s map[string]any, owner string) any {
	arms := armsOf(s)
	first := arms[0].(map[string]any)
	if properties, ok := first["properties"].(map[string]any); ok {
		for name, schema := range properties {
			if isTag(schema) {
				v := map[string]any{name: "newInCodex9", "payload": []any{nil, "x"}, "threadId": nil}
				plain := &maker{b: m.b, mode: least}
				beside := maps.Clone(s)
				delete(beside, "oneOf")
				maps.Copy(v, plain.object(beside, owner, 1).in.(map[string]any))
				return v
			}
		}
	}
	last := arms[len(arms)-1].(map[string]any)
	if last["enum"] != nil && first["enum"] != nil && !slices.ContainsFunc(arms, func(arm any) bool { return arm.(map[string]any)["properties"] != nil }) {
		return "new in Codex 9"
	}
	return map[string]any{"newInCodex9": map[string]any{"payload": nil}}
}

// state is whether a member is there.
type state int

const (
	absent state = iota
	null
	value
)

func statesOf(schema any, required bool) []state {
	var list []state
	if !required {
		list = append(list, absent)
	}
	if nullable(schema) {
		list = append(list, null)
	}
	return append(list, value)
}

// member adds a member in the given state. A null that means the same as
// absence, because its owner only comes from the server, is not wanted back.
func (m *maker) member(p pair, name string, schema any, owner string, required bool, st state, depth int) {
	in, want := p.in.(map[string]any), p.want.(map[string]any)
	switch st {
	case null:
		in[name] = nil
		if required || m.b.lossless[owner] {
			want[name] = nil
		}
	case value:
		v := m.from(withoutNull(schema), owner, depth)
		in[name], want[name] = v.in, v.want
	}
}

func nullable(schema any) bool {
	s, ok := schema.(map[string]any)
	if !ok || isAny(s) {
		return false
	}
	if arms, ok := s["anyOf"].([]any); ok {
		return len(arms) == 2 && isNull(arms[1])
	}
	kinds := typesOf(s)
	return len(kinds) > 1 && slices.Contains(kinds, "null")
}

func isNull(schema any) bool {
	s, _ := schema.(map[string]any)
	return s["type"] == "null"
}

// withoutNull is the schema that is left when null has been dealt with.
func withoutNull(schema any) any {
	if !nullable(schema) {
		return schema
	}
	s := schema.(map[string]any)
	if arms, ok := s["anyOf"].([]any); ok {
		return withoutNull(arms[0])
	}
	s = maps.Clone(s)
	s["type"] = typesOf(s)[0]
	return s
}

func armsOf(s map[string]any) []any {
	for _, key := range []string{"oneOf", "anyOf"} {
		if arms, ok := s[key].([]any); ok {
			return arms
		}
	}
	return nil
}

func typesOf(s map[string]any) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var list []string
		for _, name := range t {
			list = append(list, name.(string))
		}
		return list
	}
	return []string{"object"}
}

func requiredOf(s map[string]any) map[string]bool {
	set := map[string]bool{}
	names, _ := s["required"].([]any)
	for _, name := range names {
		set[name.(string)] = true
	}
	return set
}

func isAny(s map[string]any) bool {
	for _, key := range []string{"$ref", "type", "enum", "oneOf", "anyOf", "allOf", "properties"} {
		if _, ok := s[key]; ok {
			return false
		}
	}
	return true
}

// choose picks one of n alternatives: the first when as little as possible is
// wanted, the last when as much.
func (m *maker) choose(n, depth int) int {
	switch {
	case m.mode == most && depth <= 1:
		return n - 1
	case m.mode == random && depth < deepest:
		return m.rnd.IntN(n)
	}
	return 0
}

func (m *maker) length(depth int) int {
	switch {
	case m.mode == most && depth <= 1:
		return 2
	case m.mode == random && depth < deepest:
		return m.rnd.IntN(3)
	}
	return 0
}

func (m *maker) oneOf(values []any, depth int) any { return values[m.choose(len(values), depth)] }

// anything is a value for a place where any JSON is allowed.
func (m *maker) anything() any {
	pool := []any{nil, true, "text", json.Number("12345678901234567890"), json.Number("-0.25e-3"), []any{}, map[string]any{},
		map[string]any{"type": "object", "nested": []any{map[string]any{"a": nil}, json.Number("1"), "é\n"}}}
	switch m.mode {
	case most:
		return pool[len(pool)-1]
	case random:
		return pool[m.rnd.IntN(len(pool))]
	}
	return pool[0]
}

// texts are strings that a careless decoder gets wrong.
func texts(s map[string]any) []any {
	list := []any{"a", "0199d0c4-2ad1-7c01-9c5e-0c5b0a9f2f6a", "ünïcödé 😀 漢字", "two\nlines\t\"quoted\" \\ / \b\f\r\u0001\u2028</script>", strings.Repeat("long ", 200)}
	if s["minLength"] == nil {
		list = append(list, "")
	}
	return list
}

// numbers are the bounds of a format and what lies between.
func numbers(s map[string]any) []any {
	format, _ := s["format"].(string)
	bounds := map[string][]string{
		"int32":  {"0", "-2147483648", "2147483647"},
		"int64":  {"0", "-9223372036854775808", "9223372036854775807", "9007199254740993"},
		"uint16": {"0", "65535"},
		"uint32": {"0", "4294967295"},
		"uint64": {"0", "18446744073709551615"},
		"uint":   {"1", "18446744073709551615"},
		"double": {"0", "-1.5", "3.141592653589793", "1e21", "5e-324", "1.7976931348623157e308"},
	}[format]
	var list []any
	for _, text := range bounds {
		list = append(list, json.Number(text))
	}
	return list
}
