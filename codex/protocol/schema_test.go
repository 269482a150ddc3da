package protocol_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// bundle is the schema that the Codex under test says it speaks.
type bundle struct {
	definitions map[string]map[string]any // by name, both floors
	pointers    map[string]string         // name → place in the bundle file
	validators  map[string]*jsonschema.Schema
	lossless    map[string]bool // definitions that travel to the server, or that no method reaches
	reached     map[string]bool // definitions that some method reaches
}

var dumped struct {
	sync.Mutex
	bundle *bundle
}

// schema returns the experimental bundle, dumped once per test process.
func schema(tb testing.TB) *bundle {
	tb.Helper()
	dumped.Lock()
	defer dumped.Unlock()
	if dumped.bundle == nil {
		b, err := dumpBundle(codextest.Binary(tb))
		if err != nil {
			tb.Fatal(err)
		}
		dumped.bundle = b
	}
	return dumped.bundle
}

func dumpBundle(binary string) (*bundle, error) {
	dir, err := os.MkdirTemp("", "schema")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command(binary, "app-server", "generate-json-schema", "--experimental", "--out", dir)
	cmd.Env = append(os.Environ(), "CODEX_HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, &exec.Error{Name: string(out), Err: err}
	}
	b := &bundle{
		definitions: map[string]map[string]any{},
		pointers:    map[string]string{},
		lossless:    map[string]bool{},
		reached:     map[string]bool{},
		validators:  map[string]*jsonschema.Schema{},
	}
	file := filepath.Join(dir, "codex_app_server_protocol.schemas.json")
	text, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	root, err := jsonschema.UnmarshalJSON(text)
	if err != nil {
		return nil, err
	}
	definitions := root.(map[string]any)["definitions"].(map[string]any)
	if err := correct(definitions); err != nil {
		return nil, err
	}
	for name, s := range definitions {
		if name == "v2" {
			for name, s := range s.(map[string]any) {
				b.add(name, "v2/"+name, s)
			}
			continue
		}
		b.add(name, name, s)
	}
	b.directions()
	return b, b.compile(file, root)
}

// misspelt are members that the schema calls otherwise than Codex 0.160.1 does:
// its TypeScript and what it sends agree with each other, not with the schema.
// The schema is put right before the types are held against it.
var misspelt = []struct{ definition, tag, wrong, right string }{
	{"ThreadTimelineEntry", "turnStarted", "turn_id", "turnId"},
	{"ThreadTimelineEntry", "turnStarted", "started_at", "startedAt"},
	{"ThreadTimelineEntry", "turnCompleted", "turn_id", "turnId"},
	{"ThreadTimelineEntry", "turnCompleted", "started_at", "startedAt"},
	{"ThreadTimelineEntry", "turnCompleted", "completed_at", "completedAt"},
	{"ThreadTimelineEntry", "turnCompleted", "duration_ms", "durationMs"},
	{"ThreadRealtimeItem", "bemItemPromoted", "turn_id", "turnId"},
	{"ThreadRealtimeItem", "bemItemPromoted", "item_id", "itemId"},
}

func correct(definitions map[string]any) error {
	for _, m := range misspelt {
		found := false
		for _, arm := range definitions["v2"].(map[string]any)[m.definition].(map[string]any)["oneOf"].([]any) {
			arm := arm.(map[string]any)
			properties := arm["properties"].(map[string]any)
			if tag := properties["type"].(map[string]any)["enum"].([]any)[0]; tag != m.tag || properties[m.wrong] == nil {
				continue
			}
			found = true
			properties[m.right] = properties[m.wrong]
			delete(properties, m.wrong)
			for i, name := range arm["required"].([]any) {
				if name == m.wrong {
					arm["required"].([]any)[i] = m.right
				}
			}
		}
		if !found {
			return fmt.Errorf("%s of %s is no longer called %s in the schema", m.right, m.definition, m.wrong)
		}
	}
	return nil
}

// open are the objects with members that the schema does not describe, which the
// types keep; true for those of which the schema does not even say so.
var open = map[string]bool{"Config": false, "AnalyticsConfig": false, "AppsConfig": true, "AppLinksConfig": true, "AppToolsConfig": true}

func (b *bundle) add(name, pointer string, s any) {
	if _, twice := b.definitions[name]; twice && strings.HasPrefix(pointer, "v2/") {
		return
	}
	b.definitions[name] = s.(map[string]any)
	b.pointers[name] = pointer
}

// validator returns the validator of one definition.
func (b *bundle) validator(name string) *jsonschema.Schema { return b.validators[name] }

// compile makes the validators of all definitions in one go, as the arms of a
// schema that refers to each of them.
func (b *bundle) compile(file string, root any) error {
	names := slices.Sorted(maps.Keys(b.definitions))
	var refs []any
	for _, name := range names {
		refs = append(refs, map[string]any{"$ref": file + "#/definitions/" + b.pointers[name]})
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(file, root); err != nil {
		return err
	}
	if err := c.AddResource("all.json", map[string]any{"$schema": "http://json-schema.org/draft-07/schema#", "anyOf": refs}); err != nil {
		return err
	}
	all, err := c.Compile("all.json")
	if err != nil {
		return err
	}
	for i, name := range names {
		b.validators[name] = all.AnyOf[i].Ref
	}
	return nil
}

// directions finds out which definitions travel to the server. It trusts the
// method table for the result types alone; the params come from the schema.
func (b *bundle) directions() {
	down := map[string]bool{}
	for m := range protocol.Methods() {
		up := m.Direction == protocol.DirClientRequest || m.Direction == protocol.DirClientNotification
		if m.Result != "" {
			b.spread(m.Result, map[bool]map[string]bool{true: down, false: b.lossless}[up])
		}
	}
	for envelope, into := range map[string]map[string]bool{"ClientRequest": b.lossless, "ServerRequest": down, "ServerNotification": down} {
		for _, arm := range b.definitions[envelope]["oneOf"].([]any) {
			params := arm.(map[string]any)["properties"].(map[string]any)["params"]
			eachRef(params, func(name string) { b.spread(name, into) })
		}
	}
	for name := range b.definitions {
		b.reached[name] = down[name] || b.lossless[name]
		if !b.reached[name] {
			b.lossless[name] = true
		}
	}
}

func (b *bundle) spread(name string, into map[string]bool) {
	if into[name] {
		return
	}
	into[name] = true
	eachRef(b.definitions[name], func(name string) { b.spread(name, into) })
}

// eachRef visits the definitions that a schema refers to directly.
func eachRef(s any, visit func(string)) {
	switch s := s.(type) {
	case map[string]any:
		if ref, ok := s["$ref"].(string); ok {
			visit(refName(ref))
		}
		for _, v := range s {
			eachRef(v, visit)
		}
	case []any:
		for _, v := range s {
			eachRef(v, visit)
		}
	}
}

func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// parse reads JSON the way the validator wants it: numbers keep their text.
func parse(tb testing.TB, text []byte) any {
	tb.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		tb.Fatalf("%v in %s", err, text)
	}
	return v
}

func encode(tb testing.TB, v any) []byte {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}
