package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/codexctl/codexctl/protocolgen/internal/load"
)

// oneOf makes a union of which the arms name themselves.
func (b *builder) oneOf(t *Type, s *load.Schema) error {
	t.Kind = KindUnion
	shared, err := b.fields(t, t.Name, &load.Schema{Properties: s.Properties, Required: s.Required}, "")
	if err != nil {
		return err
	}
	t.Fields = shared
	if tag := commonTag(s.OneOf); tag != "" {
		return b.tagged(t, s, tag)
	}
	if len(shared) > 0 {
		return fmt.Errorf("members beside a union whose arms share no tag")
	}
	return b.mixed(t, s)
}

// commonTag returns the member that holds a different constant string in every
// arm, "" when there is none.
func commonTag(arms []*load.Schema) string {
	counts := map[string]int{}
	for _, arm := range arms {
		for name, p := range arm.Properties {
			if len(p.Enum) == 1 && slices.Contains(arm.Required, name) {
				counts[name]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] == len(arms) {
			return name
		}
	}
	return ""
}

func (b *builder) tagged(t *Type, s *load.Schema, tag string) error {
	u := &Union{Form: UnionTagged, Tag: tag}
	t.Union = u
	for _, one := range s.OneOf {
		wire := one.Properties[tag].Enum[0]
		arm := &Arm{Go: t.Name + b.armName(t.Name, wire), Wire: wire, Description: one.Description}
		if one.Ref != "" || len(one.OneOf) > 0 {
			return fmt.Errorf("arm %q is not a plain object", wire)
		}
		fields, err := b.fields(t, arm.Go, one, tag)
		if err != nil {
			return err
		}
		arm.Fields = fields
		u.Arms = append(u.Arms, arm)
	}
	return nil
}

func (b *builder) armName(union, wire string) string {
	if name, ok := lookup(b.used, "names", b.exceptions.Names, union+"/"+wire); ok {
		return name
	}
	return GoName(wire)
}

// mixed makes a union of bare strings and of objects with a single member that
// names the arm.
func (b *builder) mixed(t *Type, s *load.Schema) error {
	u := &Union{Form: UnionMixed, Strings: t.Name + "Value"}
	t.Union = u
	for _, one := range s.OneOf {
		if len(one.Enum) > 0 && one.Type.Has("string") {
			values, err := b.values(t.Name, t.Name, one)
			if err != nil {
				return err
			}
			u.Values = append(u.Values, values...)
			continue
		}
		if len(one.Properties) != 1 || len(one.Required) != 1 {
			return fmt.Errorf("no rule for an arm with members %v and no tag", slices.Sorted(maps.Keys(one.Properties)))
		}
		wire := one.Required[0]
		inner := one.Properties[wire]
		arm := &Arm{Go: t.Name + b.armName(t.Name, wire), Wire: wire, Description: one.Description}
		if inner.Properties != nil {
			fields, err := b.fields(t, arm.Go, inner, "")
			if err != nil {
				return err
			}
			arm.Fields = fields
		} else {
			ref, nullable, err := b.ref(inner)
			if err != nil || nullable {
				return fmt.Errorf("arm %q: no rule for its value (%w)", wire, err)
			}
			arm.Elem, arm.Member = ref, true
		}
		u.Arms = append(u.Arms, arm)
	}
	if len(u.Values) == 0 {
		return fmt.Errorf("arms share no tag and none is a string")
	}
	return nil
}

// anyOf makes a nullable or a union of which the arms do not name themselves.
func (b *builder) anyOf(t *Type, s *load.Schema) error {
	if len(s.AnyOf) == 2 && isNull(s.AnyOf[1]) {
		ref, _, err := b.ref(s.AnyOf[0])
		t.Kind, t.Elem = KindNullable, ref
		return err
	}
	if s.Properties != nil {
		return fmt.Errorf("members beside anyOf")
	}
	t.Kind = KindUnion
	u := &Union{Form: UnionUntagged}
	t.Union = u
	kinds := map[string]bool{}
	for i, one := range s.AnyOf {
		arm, kind, err := b.untaggedArm(t, one, i)
		if err != nil {
			return fmt.Errorf("arm %d: %w", i, err)
		}
		u.Arms = append(u.Arms, arm)
		u.Pick = append(u.Pick, Pick{Kind: kind, Arm: arm.Go})
		kinds[kind] = true
	}
	if len(kinds) == len(u.Arms) {
		return nil // the JSON kind alone tells the arms apart
	}
	pick, ok := lookup(b.used, "unions", b.exceptions.Unions, t.Name)
	if !ok {
		return fmt.Errorf("several arms are objects and nothing names them: the unions table needs a rule")
	}
	for _, p := range pick {
		if !slices.ContainsFunc(u.Arms, func(a *Arm) bool { return a.Go == p.Arm }) {
			return fmt.Errorf("the rule in the unions table names %s, which is not an arm", p.Arm)
		}
	}
	u.Pick = pick
	return nil
}

func (b *builder) untaggedArm(t *Type, s *load.Schema, i int) (*Arm, string, error) {
	if s.Ref != "" {
		name := load.RefName(s.Ref)
		return &Arm{Go: name, Wire: name, Named: name}, "object", nil
	}
	if s.Properties != nil {
		name, ok := lookup(b.used, "arms", b.exceptions.Arms, t.Name+"/"+strconv.Itoa(i))
		if !ok {
			return nil, "", fmt.Errorf("an object without a name: the arms table needs one")
		}
		arm := &Arm{Go: t.Name + name, Wire: strings.ToLower(name), Description: s.Description}
		fields, err := b.fields(t, arm.Go, s, "")
		arm.Fields = fields
		return arm, "object", err
	}
	ref, nullable, err := b.ref(s)
	if err != nil || nullable {
		return nil, "", fmt.Errorf("no rule for its value (%w)", err)
	}
	name, kind := "List", "array"
	if ref.Kind == RefBasic {
		name, kind = "Integer", "number"
		if ref.Name == "string" {
			name, kind = "String", "string"
		}
	}
	return &Arm{Go: t.Name + name, Wire: strings.ToLower(name), Elem: ref, Description: s.Description}, kind, nil
}
