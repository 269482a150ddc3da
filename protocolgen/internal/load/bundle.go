// Package load turns what a Codex executable says about its protocol into
// parsed JSON schemas. It dumps the two bundles, stable and experimental, checks
// that they belong together, and refuses every schema keyword it does not know.
package load

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// BundleFile is the file of a schema dump that holds every definition.
const BundleFile = "codex_app_server_protocol.schemas.json"

// nested is the key under which the bundle keeps the current generation of the
// protocol; what lies beside it is the older one plus the message envelopes.
const nested = "v2"

// Bundle is one parsed schema bundle. Its two floors are flattened into one
// name space: where both define a name they must agree on its shape.
type Bundle struct {
	Definitions map[string]*Schema
	TopLevel    int    // definitions beside "v2"
	Nested      int    // definitions under "v2"
	Shared      int    // names that both define
	SHA256      string // of the bundle file, lower-case hexadecimal
	// Unread has the members beside the definitions that are not known, as they were written. Nil is none.
	Unread map[string]jsontext.Value
}

// Source is what one Codex release says with and without --experimental.
type Source struct {
	Version      string // of the Codex that was asked; empty for bundles read from files
	Stable       *Bundle
	Experimental *Bundle
}

// Strictness says what to do with a schema keyword that [Schema] lacks.
type Strictness bool

// Strict fails, which is what a generator must do; Lenient keeps it in [Schema.Unread] for a report.
const (
	Strict  Strictness = true
	Lenient Strictness = false
)

// ReadBundle parses one bundle file.
func ReadBundle(path string, strict Strictness) (*Bundle, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read schema bundle: %w", err)
	}
	b, err := ParseBundle(raw, strict)
	if err != nil {
		return nil, fmt.Errorf("schema bundle %s: %w", path, err)
	}
	return b, nil
}

// ParseBundle parses the text of one bundle file.
func ParseBundle(raw []byte, strict Strictness) (*Bundle, error) {
	var root map[string]jsontext.Value
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	var definitions map[string]jsontext.Value
	if v, ok := root["definitions"]; ok {
		if err := json.Unmarshal(v, &definitions); err != nil {
			return nil, fmt.Errorf("read definitions: %w", err)
		}
	}
	for _, known := range []string{"$schema", "title", "type", "definitions"} {
		delete(root, known)
	}
	if strict == Strict && len(root) > 0 {
		return nil, fmt.Errorf("read bundle: %q beside the definitions has to be understood before anything can be generated", slices.Sorted(maps.Keys(root)))
	}
	sum := sha256.Sum256(raw)
	b := &Bundle{Definitions: map[string]*Schema{}, SHA256: hex.EncodeToString(sum[:]), Unread: root}

	var inner map[string]jsontext.Value
	if v, ok := definitions[nested]; ok {
		if err := json.Unmarshal(v, &inner); err != nil {
			return nil, fmt.Errorf("read definitions under %s: %w", nested, err)
		}
		delete(definitions, nested)
	}
	b.TopLevel, b.Nested = len(definitions), len(inner)
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		s, err := parseDefinition(nested+"/"+name, inner[name], strict)
		if err != nil {
			return nil, err
		}
		b.Definitions[name] = s
	}
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		s, err := parseDefinition(name, definitions[name], strict)
		if err != nil {
			return nil, err
		}
		if twin, ok := b.Definitions[name]; ok {
			b.Shared++
			if strict == Strict && !sameShape(s, twin) {
				return nil, fmt.Errorf("definition %s means one thing at the top and another under %s: give one of them a name of its own", name, nested)
			}
			continue
		}
		b.Definitions[name] = s
	}
	return b, nil
}

// sameShape compares two schemas without their annotations.
func sameShape(a, b *Schema) bool {
	return shape(a) == shape(b)
}

func shape(s *Schema) string {
	var out strings.Builder
	writeShape(&out, s)
	return out.String()
}

func writeShape(out *strings.Builder, s *Schema) {
	if s == nil {
		out.WriteString("-")
		return
	}
	if s.Always != nil {
		fmt.Fprintf(out, "%v", *s.Always)
		return
	}
	fmt.Fprintf(out, "{%s %q %s %q %q", RefName(s.Ref), s.Type, s.Format, s.Enum, slices.Sorted(slices.Values(s.Required)))
	if s.Minimum != nil {
		fmt.Fprintf(out, " min%v", *s.Minimum)
	}
	if s.MinLength != nil {
		fmt.Fprintf(out, " len%d", *s.MinLength)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		fmt.Fprintf(out, " %q:", name)
		writeShape(out, s.Properties[name])
	}
	for _, one := range []*Schema{s.AdditionalProperties, s.Items} {
		writeShape(out, one)
	}
	for _, list := range [][]*Schema{s.OneOf, s.AnyOf, s.AllOf} {
		out.WriteString("[")
		for _, one := range list {
			writeShape(out, one)
		}
		out.WriteString("]")
	}
	out.WriteString("}")
}

// RefName returns the definition that a $ref points to, whichever floor it
// names.
func RefName(ref string) string {
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// EachRef visits the definitions that a schema refers to directly, in order.
func EachRef(s *Schema, visit func(name string)) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		visit(RefName(s.Ref))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		EachRef(s.Properties[name], visit)
	}
	EachRef(s.AdditionalProperties, visit)
	EachRef(s.Items, visit)
	for _, list := range [][]*Schema{s.OneOf, s.AnyOf, s.AllOf} {
		for _, one := range list {
			EachRef(one, visit)
		}
	}
}
