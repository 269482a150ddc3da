package diff

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/codexctl/codexctl/protocolgen/internal/load"
)

// Report says how a newer protocol differs from an older one.
type Report struct {
	Old     Side     `json:"old"`
	New     Side     `json:"new"`
	Methods []Change `json:"methods"`
	Types   []Change `json:"types"`
}

// Side is one of the two protocols.
type Side struct {
	Version     string `json:"version,omitempty"` // empty for bundles that do not say
	SHA256      string `json:"sha256"`            // of the experimental bundle
	Definitions int    `json:"definitions"`
	Methods     int    `json:"methods"`
}

// What happened to a thing.
const (
	Added   = "added"
	Removed = "removed"
	Retyped = "retyped"
)

// Change is one difference.
type Change struct {
	What   string `json:"what"`             // Added, Removed or Retyped
	Name   string `json:"name"`             // a method with its direction, or a path into a definition
	Was    string `json:"was,omitempty"`    // for Removed and Retyped
	Is     string `json:"is,omitempty"`     // for Added and Retyped
	UsedBy string `json:"usedBy,omitempty"` // how this module's code depends on it; empty if it does not

	definition string // the definition that the change lies in
}

// Compare reports the differences between two protocols. Uses may be nil.
func Compare(old, newer *load.Source, uses *Uses) *Report {
	r := &Report{
		Old:     side(old),
		New:     side(newer),
		Methods: methodChanges(old, newer, uses),
		Types:   typeChanges(old.Experimental, newer.Experimental),
	}
	reach := uses.reach(old.Experimental)
	for i := range r.Types {
		c := &r.Types[i]
		c.UsedBy = uses.of(c, reach)
	}
	return r
}

func side(s *load.Source) Side {
	return Side{Version: s.Version, SHA256: s.Experimental.SHA256, Definitions: len(s.Experimental.Definitions), Methods: len(methods(s))}
}

func typeChanges(old, newer *load.Bundle) []Change {
	list := lines("", unreadOf(old), unreadOf(newer))
	for _, name := range sortedUnion(old.Definitions, newer.Definitions) {
		if envelopes[name] != "" {
			continue // the methods say it better
		}
		was, is := old.Definitions[name], newer.Definitions[name]
		switch {
		case was == nil:
			list = append(list, Change{What: Added, Name: name, Is: describe(is), definition: name})
			unread := flat{}
			unread.unread(name, is)
			list = append(list, lines(name, flat{}, unread)...)
		case is == nil:
			list = append(list, Change{What: Removed, Name: name, Was: describe(was), definition: name})
		default:
			list = append(list, lines(name, flatten(name, was), flatten(name, is))...)
		}
	}
	return list
}

// unreadOf is what a bundle says beside its definitions that is not understood.
func unreadOf(b *load.Bundle) flat {
	f := flat{}
	f.unread("the bundle", &load.Schema{Unread: b.Unread})
	return f
}

func lines(definition string, was, is flat) []Change {
	var list []Change
	hidden := func(path string) bool { // its parent is in the list already
		return slices.ContainsFunc(list, func(c Change) bool {
			return c.What != Retyped && (strings.HasPrefix(path, c.Name+".") || strings.HasPrefix(path, c.Name+"["))
		})
	}
	for _, path := range sortedUnion(was, is) {
		a, inOld := was[path]
		b, inNew := is[path]
		switch {
		case hidden(path) && !strings.HasPrefix(b, notUnderstood):
		case !inOld:
			list = append(list, Change{What: Added, Name: path, Is: b, definition: definition})
		case !inNew:
			list = append(list, Change{What: Removed, Name: path, Was: a, definition: definition})
		case a != b:
			list = append(list, Change{What: Retyped, Name: path, Was: a, Is: b, definition: definition})
		}
	}
	return list
}

func sortedUnion[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// envelopes are the definitions that list methods, with what they list.
var envelopes = map[string]string{
	"ClientRequest":      "client request",
	"ServerRequest":      "server request",
	"ServerNotification": "notification",
	"ClientNotification": "client notification",
}

type method struct {
	direction, name, params, stability string
}

func (m method) text() string {
	return strings.TrimSuffix(cmp.Or(m.params, "no params")+", "+m.stability, ", ")
}

// methods lists the methods by direction and name.
func methods(s *load.Source) map[string]method {
	list := map[string]method{}
	for envelope, direction := range envelopes {
		stable := map[string]bool{}
		if s.Stable != nil {
			eachMethod(s.Stable.Definitions[envelope], func(name string, _ *load.Schema) { stable[name] = true })
		}
		eachMethod(s.Experimental.Definitions[envelope], func(name string, params *load.Schema) {
			m := method{direction: direction, name: name}
			if params != nil {
				m.params = describe(params)
			}
			if s.Stable != nil && !stable[name] {
				m.stability = "experimental"
			}
			list[direction+" "+name] = m
		})
	}
	return list
}

func eachMethod(envelope *load.Schema, visit func(name string, params *load.Schema)) {
	if envelope == nil {
		return
	}
	for _, arm := range envelope.OneOf {
		if tag := arm.Properties["method"]; tag != nil && len(tag.Enum) == 1 {
			visit(tag.Enum[0], arm.Properties["params"])
		}
	}
}

func methodChanges(old, newer *load.Source, uses *Uses) []Change {
	was, is := methods(old), methods(newer)
	if old.Stable == nil || newer.Stable == nil { // stability can only be compared when both say it
		for _, list := range []map[string]method{was, is} {
			for name, m := range list {
				m.stability = ""
				list[name] = m
			}
		}
	}
	var list []Change
	for _, name := range sortedUnion(was, is) {
		a, inOld := was[name]
		b, inNew := is[name]
		c := Change{Name: name}
		switch {
		case !inOld:
			c.What, c.Is = Added, b.text()
		case !inNew:
			c.What, c.Was = Removed, a.text()
		case a.text() != b.text():
			c.What, c.Was, c.Is = Retyped, a.text(), b.text()
		default:
			continue
		}
		c.UsedBy = uses.method(a.direction, a.name)
		list = append(list, c)
	}
	return list
}
