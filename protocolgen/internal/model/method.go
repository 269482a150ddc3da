package model

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/codexctl/codexctl/protocolgen/internal/load"
)

// The definitions that list the methods of each direction.
var envelopes = []struct {
	name      string
	direction Direction
}{
	{"ClientRequest", ClientRequest},
	{"ServerRequest", ServerRequest},
	{"ServerNotification", ServerNotification},
	{"ClientNotification", ClientNotification},
}

// methods lists every method that the envelopes name, sorted by direction and
// wire name.
func (b *builder) methods() ([]*Method, error) {
	var list []*Method
	for _, e := range envelopes {
		s := b.defs[e.name]
		if s == nil {
			continue // a bundle for tests need not have every direction
		}
		stable := wireNames(b.source.Stable.Definitions[e.name])
		for _, one := range s.OneOf {
			m, err := b.method(e.direction, one)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
			m.Experimental = !stable[m.Wire]
			list = append(list, m)
		}
	}
	sortMethods(list)
	b.nameNotifications(list)
	return list, nil
}

func wireNames(s *load.Schema) map[string]bool {
	names := map[string]bool{}
	if s == nil {
		return names
	}
	for _, one := range s.OneOf {
		if p := one.Properties["method"]; p != nil && len(p.Enum) == 1 {
			names[p.Enum[0]] = true
		}
	}
	return names
}

func (b *builder) method(d Direction, s *load.Schema) (*Method, error) {
	tag := s.Properties["method"]
	if tag == nil || len(tag.Enum) != 1 {
		return nil, fmt.Errorf("an arm without a method name")
	}
	m := &Method{Wire: tag.Enum[0], Go: GoName(tag.Enum[0]), Direction: d, Description: s.Description, Deprecated: saysDeprecated(s.Description), Unstable: saysUnstable(s.Description)}
	if params := s.Properties["params"]; params != nil && !isNull(params) {
		ref, nullable, err := b.ref(params)
		if err != nil {
			return nil, fmt.Errorf("params of %s: %w", m.Wire, err)
		}
		if ref.Kind != RefNamed {
			return nil, fmt.Errorf("params of %s: no rule for params that are not a definition", m.Wire)
		}
		m.Params, m.ParamsNull = ref, nullable
		m.Deprecated = m.Deprecated || saysDeprecated(b.defs[ref.Name].Description)
		m.Unstable = m.Unstable || saysUnstable(b.defs[ref.Name].Description)
	}
	if v, ok := lookup(b.used, "deprecated", b.exceptions.Deprecated, m.Wire); ok {
		m.Deprecated = v
	}
	if d == ClientRequest || d == ServerRequest {
		result, err := b.result(m)
		if err != nil {
			return nil, err
		}
		m.Result = result
	}
	if d == ClientRequest {
		m.Reads = reads(m.Wire)
		if v, ok := lookup(b.used, "reads", b.exceptions.Reads, m.Wire); ok {
			m.Reads = v
		}
	}
	return m, nil
}

// result finds the result type: FooParams is answered by FooResponse.
func (b *builder) result(m *Method) (string, error) {
	name, ok := lookup(b.used, "results", b.exceptions.Results, m.Wire)
	if !ok {
		if m.Params == nil {
			return "", fmt.Errorf("%s has no params to derive its result from: the results table needs an entry", m.Wire)
		}
		base, found := strings.CutSuffix(m.Params.Name, "Params")
		if !found {
			return "", fmt.Errorf("%s: params type %s does not end in Params: the results table needs an entry", m.Wire, m.Params.Name)
		}
		name = base + "Response"
	}
	if b.defs[name] == nil {
		return "", fmt.Errorf("%s: its result would be %s, which is not defined: the results table needs an entry", m.Wire, name)
	}
	return name, nil
}

var readingWords = regexp.MustCompile(`^(read|list|get|search|status)`)

// reads is the rule for requests that change nothing: the last part of the name
// starts with a word that says so.
func reads(wire string) bool {
	return readingWords.MatchString(wire[strings.LastIndexByte(wire, '/')+1:])
}

// nameNotifications gives every notification a Go type of its own: the params
// type, or a type that embeds it where several methods share one.
func (b *builder) nameNotifications(list []*Method) {
	shared := map[string]int{}
	for _, m := range list {
		if m.Direction == ServerNotification && m.Params != nil {
			shared[m.Params.Name]++
		}
	}
	for _, m := range list {
		if m.Direction != ServerNotification || m.Params == nil {
			continue
		}
		m.Notification = m.Params.Name
		if shared[m.Params.Name] > 1 {
			m.Notification = m.Go + "Notification"
			m.Wraps = m.Params.Name
		}
	}
}
