// Package diff compares two versions of the protocol: what the newer one adds,
// removes and retypes, and which of that a Go module uses.
package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/codexctl/codexctl/protocolgen/internal/load"
)

// flat is a definition written as lines that can be compared: a path such as
// "ThreadItem[plan].text" and what is there.
type flat map[string]string

// flatten writes down everything about a definition that matters on the wire.
func flatten(name string, s *load.Schema) flat {
	f := flat{}
	f.add(name, s, "")
	return f
}

func (f flat) add(path string, s *load.Schema, note string) {
	f[path] = describe(s) + note
	for _, value := range s.Enum {
		if len(s.Enum) > 1 || !strings.ContainsAny(path, ".[") {
			f[path+" = "+value] = "value"
		}
	}
	for _, list := range [][]*load.Schema{s.OneOf, s.AnyOf} {
		for i, arm := range list {
			f.arm(path, arm, i)
		}
	}
	f.members(path, s)
	f.unread(path, &load.Schema{Unread: s.Unread, Items: s.Items, AdditionalProperties: s.AdditionalProperties, AllOf: s.AllOf})
}

// unread notes what a schema says in keywords that are not understood: a line each, so that it is seen when it comes or
// goes, whatever it may mean.
func (f flat) unread(path string, s *load.Schema) {
	load.EachUnread(path, s, func(at, keyword string, value jsontext.Value) {
		f[at+" "+keyword] = notUnderstood + shorten(string(value))
	})
}

// notUnderstood begins the line of a keyword that says nothing to us.
const notUnderstood = "keyword not understood: "

func shorten(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func (f flat) arm(path string, arm *load.Schema, i int) {
	if len(arm.Enum) > 0 {
		for _, value := range arm.Enum {
			f[path+" = "+value] = "value"
		}
		f.unread(path, arm)
		return
	}
	if tag, value := tagOf(arm); tag != "" {
		f.add(path+"["+value+"]", arm, "")
		return
	}
	label := describe(arm)
	if len(arm.Required) == 1 && len(arm.Properties) == 1 {
		label = arm.Required[0]
	} else if arm.Properties != nil {
		label = fmt.Sprint("#", i)
	}
	f.add(path+"["+label+"]", arm, "")
}

// tagOf returns the first required member that can hold one string only.
func tagOf(s *load.Schema) (member, value string) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if p := s.Properties[name]; len(p.Enum) == 1 && slices.Contains(s.Required, name) {
			return name, p.Enum[0]
		}
	}
	return "", ""
}

func (f flat) members(path string, s *load.Schema) {
	tag, _ := tagOf(s)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if name == tag {
			continue
		}
		note := ", optional"
		if slices.Contains(s.Required, name) {
			note = ", required"
		}
		p := s.Properties[name]
		if p.Properties != nil || p.OneOf != nil {
			f.add(path+"."+name, p, note)
			continue
		}
		f[path+"."+name] = describe(p) + note
		f.unread(path+"."+name, p)
	}
}

// describe is the type of a schema in one line.
func describe(s *load.Schema) string {
	switch {
	case s.Any():
		return "anything"
	case s.Ref != "":
		return load.RefName(s.Ref)
	case len(s.AllOf) == 1:
		return describe(s.AllOf[0])
	case len(s.AnyOf) == 2 && describe(s.AnyOf[1]) == "null":
		return describe(s.AnyOf[0]) + " or null"
	case len(s.OneOf) > 0 || len(s.AnyOf) > 0:
		return "union"
	case len(s.Enum) > 0:
		return "string with known values"
	}
	var kinds []string
	for _, kind := range s.Type {
		switch {
		case kind == "array" && s.Items != nil:
			kind = "list of " + describe(s.Items)
		case kind == "object" && s.Properties == nil && s.AdditionalProperties != nil && s.AdditionalProperties.Always == nil:
			kind = "map of " + describe(s.AdditionalProperties)
		case s.Format != "" && kind != "null":
			kind = s.Format
		}
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, " or ")
}
