package model

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/codexctl/codexctl/protocolgen/internal/load"
)

// Build decides what the source becomes. Every exception must be needed.
func Build(source *load.Source, exceptions *Exceptions) (*Package, error) {
	b := &builder{source: source, exceptions: exceptions, defs: source.Experimental.Definitions, types: map[string]*Type{}, used: used{}}
	p := &Package{
		Version:            source.Version,
		StableSHA256:       source.Stable.SHA256,
		ExperimentalSHA256: source.Experimental.SHA256,
		TopLevel:           source.Experimental.TopLevel,
		Nested:             source.Experimental.Nested,
		Shared:             source.Experimental.Shared,
	}
	var err error
	if p.Methods, err = b.methods(); err != nil {
		return nil, err
	}
	b.reach(p.Methods)
	for _, name := range slices.Sorted(maps.Keys(b.defs)) {
		if err := b.define(b.types[name]); err != nil {
			return nil, fmt.Errorf("definition %s: %w", name, err)
		}
		p.Types = append(p.Types, b.types[name])
	}
	p.byName = b.types
	if err := checkNames(p); err != nil {
		return nil, err
	}
	return p, exceptions.check(b.used)
}

type builder struct {
	source     *load.Source
	exceptions *Exceptions
	defs       map[string]*load.Schema
	types      map[string]*Type
	used       used
}

// reach marks which definitions travel in which direction.
func (b *builder) reach(methods []*Method) {
	for name, s := range b.defs {
		b.types[name] = &Type{
			Name:         name,
			Description:  s.Description,
			Experimental: b.source.Stable.Definitions[name] == nil,
			Unstable:     saysUnstable(s.Description),
			Deprecated:   saysDeprecated(s.Description),
		}
	}
	for _, m := range methods {
		var params string
		if m.Params != nil {
			params = m.Params.Name
		}
		up := m.Direction == ClientRequest || m.Direction == ClientNotification
		b.mark(params, up, "params of "+m.Wire)
		b.mark(m.Result, !up, "result of "+m.Wire)
		if params != "" && m.Direction == ServerNotification {
			b.push(params)
		}
	}
}

func (b *builder) push(name string) {
	if t := b.types[name]; !t.Pushed {
		t.Pushed = true
		load.EachRef(b.defs[name], b.push)
	}
}

func (b *builder) mark(name string, up bool, role string) {
	if name == "" {
		return
	}
	b.types[name].Used = append(b.types[name].Used, role)
	b.spread(name, up)
}

func (b *builder) spread(name string, up bool) {
	t := b.types[name]
	seen := &t.Down
	if up {
		seen = &t.Up
	}
	if *seen {
		return
	}
	*seen = true
	load.EachRef(b.defs[name], func(ref string) { b.spread(ref, up) })
}

var (
	deprecatedWords = regexp.MustCompile(`(?i)^@?deprecated\b`)
	unstableWords   = regexp.MustCompile(`^(EXPERIMENTAL\b|\[UNSTABLE\])`)
)

func saysDeprecated(description string) bool { return deprecatedWords.MatchString(description) }

func saysUnstable(description string) bool { return unstableWords.MatchString(description) }

// define fills in the shape of one definition.
func (b *builder) define(t *Type) error {
	s := b.defs[t.Name]
	if s.Always != nil {
		return fmt.Errorf("a boolean schema has no type of its own")
	}
	switch {
	case isStringEnum(s):
		t.Kind = KindEnum
		var err error
		t.Values, err = b.values(t.Name, t.Name, s)
		return err
	case len(s.OneOf) > 0:
		return b.oneOf(t, s)
	case len(s.AnyOf) > 0:
		return b.anyOf(t, s)
	case s.Type.Has("string") && len(s.Type) == 1:
		t.Kind = KindString
		return nil
	case s.Type.Has("object") && len(s.Type) == 1:
		t.Kind = KindStruct
		var err error
		t.Fields, err = b.fields(t, t.Name, s, "")
		_, t.Rest = lookup(b.used, "open", b.exceptions.Open, t.Name)
		if more := s.AdditionalProperties; more != nil && more.Any() {
			t.Rest = true
		}
		if t.Rest && t.Pushed {
			return fmt.Errorf("no rule for an open object among what the server pushes")
		}
		return err
	}
	return fmt.Errorf("no rule for a definition of type %q", s.Type)
}

func isStringEnum(s *load.Schema) bool {
	if len(s.Enum) > 0 {
		return true
	}
	for _, one := range s.OneOf {
		if len(one.Enum) == 0 || !one.Type.Has("string") {
			return false
		}
	}
	return len(s.OneOf) > 0
}

// values lists the members of a string enum, whichever way it is written.
func (b *builder) values(owner, prefix string, schemas ...*load.Schema) ([]*Value, error) {
	var list []*Value
	add := func(wire, description string) error {
		name, ok := lookup(b.used, "names", b.exceptions.Names, owner+"/"+wire)
		if !ok {
			name = GoName(wire)
		}
		if name == "" {
			return fmt.Errorf("value %q gives no Go name", wire)
		}
		list = append(list, &Value{Go: prefix + name, Wire: wire, Description: description})
		return nil
	}
	for _, s := range schemas {
		for _, wire := range s.Enum {
			if err := add(wire, s.Description); err != nil {
				return nil, err
			}
		}
		for _, one := range s.OneOf {
			for _, wire := range one.Enum {
				if err := add(wire, one.Description); err != nil {
					return nil, err
				}
			}
		}
	}
	return list, nil
}

// fields lists the members of an object schema, without the member skip.
func (b *builder) fields(t *Type, path string, s *load.Schema, skip string) ([]*Field, error) {
	var list []*Field
	required := map[string]bool{}
	for _, name := range s.Required {
		if s.Properties[name] == nil && name != skip {
			return nil, fmt.Errorf("%s requires %q, which it does not describe", path, name)
		}
		required[name] = true
	}
	// The image arms hold one of two members: both become optional fields.
	inner := map[string]*load.Schema{}
	for _, alternative := range s.AnyOf {
		maps.Copy(inner, alternative.Properties)
	}
	maps.Copy(inner, s.Properties)
	stable := b.stableFields(t.Name, path)
	for _, wire := range slices.Sorted(maps.Keys(inner)) {
		if wire == skip {
			continue
		}
		f, err := b.field(t, path, wire, inner[wire], required[wire])
		if err != nil {
			return nil, err
		}
		if name, ok := lookup(b.used, "members", b.exceptions.Members, path+"."+wire); ok {
			f.Wire, f.Go = name, GoName(name)
		}
		f.Experimental = !t.Experimental && stable != nil && stable[wire] == nil
		list = append(list, f)
	}
	seen := map[string]string{}
	for _, f := range list {
		if other, ok := seen[f.Go]; ok {
			return nil, fmt.Errorf("%s: members %q and %q both become %s", path, other, f.Wire, f.Go)
		}
		seen[f.Go] = f.Wire
	}
	return list, nil
}

// stableFields returns the members that the stable bundle gives a definition,
// nil for what lies inside a definition: 0.160.1 hides only direct members.
func (b *builder) stableFields(name, path string) map[string]*load.Schema {
	s := b.source.Stable.Definitions[name]
	if s == nil || name != path {
		return nil
	}
	if s.Properties == nil {
		return map[string]*load.Schema{}
	}
	return s.Properties
}

func (b *builder) field(t *Type, path, wire string, s *load.Schema, required bool) (*Field, error) {
	ref, nullable, err := b.ref(s)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", path, wire, err)
	}
	f := &Field{
		Go: GoName(wire), Wire: wire, Type: ref, Required: required, Nullable: nullable,
		Description: s.Description, Deprecated: saysDeprecated(s.Description), Unstable: saysUnstable(s.Description),
	}
	elastic := ref.Kind == RefSlice || ref.Kind == RefMap // nil says absent
	switch {
	case ref.Kind == RefAny:
		f.Form = FormPlain // nil is absent, the text null is null
	case nullable && !required && t.Lossless():
		f.Form = FormOpt
	case nullable && required:
		f.Form = FormPointer
	case !required && !elastic:
		f.Form = FormPointer
	}
	return f, nil
}

// ref returns the use of a type that a schema describes and whether it may be
// null.
func (b *builder) ref(s *load.Schema) (*Ref, bool, error) {
	switch {
	case s.Any(), isNull(s): // a member that can only be null tells nothing but whether it is there
		return &Ref{Kind: RefAny}, false, nil
	case s.Ref != "":
		name := load.RefName(s.Ref)
		if b.defs[name] == nil {
			return nil, false, fmt.Errorf("refers to %s, which is not defined", name)
		}
		return &Ref{Kind: RefNamed, Name: name}, false, nil
	case len(s.AllOf) == 1:
		return b.ref(s.AllOf[0])
	case len(s.AnyOf) == 2 && isNull(s.AnyOf[1]):
		ref, _, err := b.ref(s.AnyOf[0])
		return ref, true, err
	case len(s.Enum) > 0 || len(s.OneOf) > 0 || len(s.AnyOf) > 0 || len(s.AllOf) > 0 || s.Properties != nil:
		return nil, false, fmt.Errorf("no rule for a schema with members of its own in this place")
	}
	nullable := s.Type.Has("null")
	var kinds []string
	for _, name := range s.Type {
		if name != "null" {
			kinds = append(kinds, name)
		}
	}
	if len(kinds) != 1 {
		return nil, false, fmt.Errorf("no rule for type %q", s.Type)
	}
	switch kinds[0] {
	case "string":
		return &Ref{Kind: RefBasic, Name: "string"}, nullable, nil
	case "boolean":
		return &Ref{Kind: RefBasic, Name: "bool"}, nullable, nil
	case "integer", "number":
		name, ok := numbers[kinds[0]+" "+s.Format]
		if !ok {
			return nil, false, fmt.Errorf("no rule for %s of format %q", kinds[0], s.Format)
		}
		return &Ref{Kind: RefBasic, Name: name}, nullable, nil
	case "array":
		elem, err := b.elem(s.Items)
		return &Ref{Kind: RefSlice, Elem: elem}, nullable, err
	case "object":
		elem, err := b.elem(s.AdditionalProperties)
		return &Ref{Kind: RefMap, Elem: elem}, nullable, err
	}
	return nil, false, fmt.Errorf("no rule for type %q", s.Type)
}

// numbers gives the Go type for a JSON number and its format. Codex's "uint" is
// a Rust usize, 64 bits on every platform it ships for.
var numbers = map[string]string{
	"integer int32": "int32", "integer int64": "int64", "integer uint16": "uint16",
	"integer uint32": "uint32", "integer uint64": "uint64", "integer uint": "uint64", "number double": "float64",
}

func (b *builder) elem(s *load.Schema) (*Ref, error) {
	if s == nil {
		return nil, fmt.Errorf("elements are not described")
	}
	ref, nullable, err := b.ref(s)
	if err == nil && nullable {
		ref = &Ref{Kind: RefOpt, Elem: ref}
	}
	return ref, err
}

func isNull(s *load.Schema) bool { return len(s.Type) == 1 && s.Type[0] == "null" }

// checkNames makes sure that no two declarations share an identifier.
func checkNames(p *Package) error {
	owner := map[string]string{}
	var clash error
	claim := func(name, who string) {
		if other, ok := owner[name]; ok && clash == nil {
			clash = fmt.Errorf("%s and %s both need the Go name %s: give one of them an entry in the names table", other, who, name)
		}
		owner[name] = who
	}
	for _, reserved := range []string{"Opt", "Some", "Null", "Unknown", "UnknownNotification", "Notification", "Method", "Direction", "Effect", "NoParams", "ClientMethod", "ServerMethod", "DecodeNotification", "LookupMethod", "Methods"} {
		claim(reserved, "hand-written "+reserved)
	}
	for _, t := range p.Types {
		claim(t.Name, "definition "+t.Name)
		for _, v := range t.Values {
			claim(v.Go, "value "+v.Wire+" of "+t.Name)
		}
		if t.Union == nil {
			continue
		}
		claim(t.Name+"Arm", "the arms of "+t.Name)
		if t.Union.Strings != "" {
			claim(t.Union.Strings, "the strings of "+t.Name)
		}
		for _, v := range t.Union.Values {
			claim(v.Go, "value "+v.Wire+" of "+t.Name)
		}
		for _, a := range t.Union.Arms {
			if a.Named == "" {
				claim(a.Go, "arm "+a.Wire+" of "+t.Name)
			}
		}
	}
	for _, m := range p.Methods {
		if m.Wraps != "" {
			claim(m.Notification, "notification "+m.Wire)
		}
		switch m.Direction {
		case ClientRequest:
			claim(m.Go+"Method", "request "+m.Wire)
		case ServerRequest:
			claim(m.Go+"Request", "server request "+m.Wire)
		default:
			claim("Notify"+m.Go, "notification "+m.Wire)
		}
	}
	return clash
}

func sortMethods(list []*Method) {
	slices.SortStableFunc(list, func(a, b *Method) int {
		return cmp.Or(cmp.Compare(a.Direction, b.Direction), strings.Compare(a.Wire, b.Wire))
	})
}
