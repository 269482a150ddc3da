package load

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Schema is the part of JSON Schema draft 7 that Codex 0.160.1 uses. What a schema says beyond it is kept in Unread, so
// that nothing is ever silently ignored.
type Schema struct {
	// Always is set for the boolean schemas: true accepts any value, false none.
	Always *bool

	Ref                  string
	Type                 Types
	Format               string
	Enum                 []string
	Properties           map[string]*Schema
	Required             []string
	AdditionalProperties *Schema
	Items                *Schema
	OneOf                []*Schema
	AnyOf                []*Schema
	AllOf                []*Schema
	Minimum              *float64
	MinLength            *int

	// Annotations: they say nothing about which values are valid.
	Dialect     string
	Title       string
	Description string
	Default     jsontext.Value

	// Unread has the keywords that are no field here, or are not of its form (an enum of numbers, say), as they were
	// written. Nil for a schema that was understood whole.
	Unread map[string]jsontext.Value
}

// Types is the "type" keyword, which is one name or a list of names.
type Types []string

// keyword is where the value of a keyword goes; nil for one that is not known.
func (s *Schema) keyword(name string) any {
	switch name {
	case "$ref":
		return &s.Ref
	case "type":
		return &s.Type
	case "format":
		return &s.Format
	case "enum":
		return &s.Enum
	case "properties":
		return &s.Properties
	case "required":
		return &s.Required
	case "additionalProperties":
		return &s.AdditionalProperties
	case "items":
		return &s.Items
	case "oneOf":
		return &s.OneOf
	case "anyOf":
		return &s.AnyOf
	case "allOf":
		return &s.AllOf
	case "minimum":
		return &s.Minimum
	case "minLength":
		return &s.MinLength
	case "$schema":
		return &s.Dialect
	case "title":
		return &s.Title
	case "description":
		return &s.Description
	case "default":
		return &s.Default
	}
	return nil
}

// UnmarshalJSONFrom accepts an object or a boolean schema.
func (s *Schema) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case 't', 'f':
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		s.Always = new(token.Bool())
		return nil
	}
	var members map[string]jsontext.Value
	if err := json.UnmarshalDecode(dec, &members); err != nil {
		return err
	}
	for name, value := range members {
		field := s.keyword(name)
		if field != nil && json.Unmarshal(value, field) == nil {
			continue
		}
		if field != nil {
			reflect.ValueOf(field).Elem().SetZero() // what was read before the part that did not fit
		}
		if s.Unread == nil {
			s.Unread = map[string]jsontext.Value{}
		}
		if err := value.Compact(); err != nil {
			return err
		}
		s.Unread[name] = value
	}
	return nil
}

// EachUnread visits every keyword, in the schema that path names and below it, that was not understood.
func EachUnread(path string, s *Schema, visit func(path, keyword string, value jsontext.Value)) {
	if s == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Unread)) {
		visit(path, name, s.Unread[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		EachUnread(path+"."+name, s.Properties[name], visit)
	}
	EachUnread(path+"{}", s.AdditionalProperties, visit)
	EachUnread(path+"[]", s.Items, visit)
	for _, list := range [][]*Schema{s.OneOf, s.AnyOf, s.AllOf} {
		for i, one := range list {
			EachUnread(fmt.Sprintf("%s[#%d]", path, i), one, visit)
		}
	}
}

// UnmarshalJSONFrom accepts one type name or a list of them.
func (t *Types) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		var one string
		if err := json.UnmarshalDecode(dec, &one); err != nil {
			return err
		}
		*t = Types{one}
		return nil
	}
	var many []string
	if err := json.UnmarshalDecode(dec, &many); err != nil {
		return err
	}
	*t = many
	return nil
}

// Has reports whether the list names the type.
func (t Types) Has(name string) bool {
	for _, n := range t {
		if n == name {
			return true
		}
	}
	return false
}

// Any reports whether every JSON value is valid: the schema is true or empty.
func (s *Schema) Any() bool {
	if s.Always != nil {
		return *s.Always
	}
	return s.Ref == "" && s.Type == nil && s.Enum == nil && s.Properties == nil && s.Required == nil &&
		s.AdditionalProperties == nil && s.Items == nil && s.OneOf == nil && s.AnyOf == nil && s.AllOf == nil && s.Unread == nil
}

func parseDefinition(name string, raw jsontext.Value, strict Strictness) (*Schema, error) {
	s := new(Schema)
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("read definition %s: %w", name, err)
	}
	var err error
	EachUnread(name, s, func(path, keyword string, value jsontext.Value) {
		if strict == Strict && err == nil {
			err = fmt.Errorf("%s has the schema keyword %q: %.60s; it has to be understood before it can be generated", path, keyword, value)
		}
	})
	return s, err
}
