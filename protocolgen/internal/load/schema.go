package load

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Schema is the part of JSON Schema draft 7 that Codex uses. A keyword that is
// not a field here makes the load fail, so nothing is ever silently ignored.
type Schema struct {
	// Always is set for the boolean schemas: true accepts any value, false none.
	Always *bool `json:"-"`

	Ref                  string             `json:"$ref"`
	Type                 Types              `json:"type"`
	Format               string             `json:"format"`
	Enum                 []string           `json:"enum"`
	Properties           map[string]*Schema `json:"properties"`
	Required             []string           `json:"required"`
	AdditionalProperties *Schema            `json:"additionalProperties"`
	Items                *Schema            `json:"items"`
	OneOf                []*Schema          `json:"oneOf"`
	AnyOf                []*Schema          `json:"anyOf"`
	AllOf                []*Schema          `json:"allOf"`
	Minimum              *float64           `json:"minimum"`
	MinLength            *int               `json:"minLength"`

	// Annotations: they say nothing about which values are valid.
	Dialect     string         `json:"$schema"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Default     jsontext.Value `json:"default"`
}

// Types is the "type" keyword, which is one name or a list of names.
type Types []string

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
	type plain Schema
	return json.UnmarshalDecode(dec, (*plain)(s))
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
		s.AdditionalProperties == nil && s.Items == nil && s.OneOf == nil && s.AnyOf == nil && s.AllOf == nil
}

func parseDefinition(name string, raw jsontext.Value, strict Strictness) (*Schema, error) {
	s := new(Schema)
	if err := json.Unmarshal(raw, s, json.RejectUnknownMembers(bool(strict))); err != nil {
		return nil, fmt.Errorf("read definition %s: %w (a schema keyword that the generator does not know has to be understood before it can be generated)", name, err)
	}
	return s, nil
}
