package protocol_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/codexctl/codexctl/codex/protocol"
)

// judge holds what the real Codex says against the types, strictly: it must fit
// the schema, decode into its type with no arm or string unknown, and nothing of
// it may be lost but nulls.
type judge struct {
	b *bundle

	// newer is for a Codex that the types were not made for: what they do not know is listed and not complained of, as
	// long as it decodes.
	newer bool

	mu         sync.Mutex
	complaints []string
	news       map[string]int // what a newer Codex says and the types do not know → how often
	seen       map[string]int // method → how often
}

func newJudge(tb testing.TB) *judge {
	return &judge{b: schema(tb), seen: map[string]int{}, news: map[string]int{}}
}

// unknown takes what the types do not know.
func (j *judge) unknown(what, path string, raw []byte) {
	if !j.newer {
		j.complain("%s: unknown to the types: %s\n%s", what, path, raw)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.news[what+": "+path]++
}

func (j *judge) complain(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.complaints) < 20 {
		j.complaints = append(j.complaints, fmt.Sprintf(format, args...))
	}
}

// report fails the test with all complaints.
func (j *judge) report(t *testing.T) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.complaints {
		t.Error(c)
	}
}

func (j *judge) count(method string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen[method]++
}

func (j *judge) result(method string, raw []byte) {
	m, ok := protocol.LookupMethod(protocol.DirClientRequest, method)
	if !ok {
		j.complain("%s is not in the method table", method)
		return
	}
	j.strict("result of "+method, m.Result, raw)
}

func (j *judge) request(m message) {
	j.count(m.Method)
	row, ok := protocol.LookupMethod(protocol.DirServerRequest, m.Method)
	if !ok {
		j.unknown("server request", m.Method, m.Params)
		return
	}
	j.strict("params of "+m.Method, row.Params, m.Params)
}

func (j *judge) notification(m message, line []byte) {
	j.count(m.Method)
	if !j.newer {
		j.strict("message", "ServerNotification", line)
	}
	n, err := protocol.DecodeNotification(m.Method, m.Params)
	if err != nil {
		j.complain("%v: %s", err, m.Params)
		return
	}
	if _, unknown := n.(*protocol.UnknownNotification); unknown {
		j.unknown("notification", m.Method, m.Params)
		return
	}
	if name := reflect.TypeOf(n).Elem().Name(); j.b.definitions[name] != nil {
		j.strict("params of "+m.Method, name, m.Params)
	}
}

func (j *judge) strict(what, name string, raw []byte) {
	instance, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		j.complain("%s: %v", what, err)
		return
	}
	if err := j.b.validator(name).Validate(instance); err != nil && !j.newer {
		j.complain("%s does not fit the schema of %s: %v\n%s", what, name, err, raw)
	}
	v := protocol.New(name)
	if err := protocol.Unmarshal(raw, v); err != nil {
		j.complain("%s does not decode into %s: %v\n%s", what, name, err, raw)
		return
	}
	for _, path := range unknowns(reflect.ValueOf(v), name) {
		j.unknown(what, path, raw)
	}
	if j.newer {
		return // fields that were added are passed over, as they must be
	}
	text, err := json.Marshal(v)
	if err != nil {
		j.complain("%s: %v", what, err)
		return
	}
	again, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		j.complain("%s: %v", what, err)
		return
	}
	if lost := difference(name, instance, again); lost != "" {
		j.complain("%s is not what %s keeps: %s\n in %s\nout %s", what, name, lost, raw, text)
	}
}

// difference finds what one value has and the other has not, nulls aside.
func difference(path string, a, b any) string {
	objectA, okA := a.(map[string]any)
	objectB, okB := b.(map[string]any)
	if okA && okB {
		for name := range objectA {
			if objectA[name] != nil || objectB[name] != nil {
				if d := difference(path+"."+name, objectA[name], objectB[name]); d != "" {
					return d
				}
			}
		}
		for name := range objectB {
			if _, ok := objectA[name]; !ok && objectB[name] != nil {
				return path + "." + name + " was made up"
			}
		}
		return ""
	}
	listA, okA := a.([]any)
	listB, okB := b.([]any)
	if okA && okB && len(listA) == len(listB) {
		for i := range listA {
			if d := difference(fmt.Sprintf("%s[%d]", path, i), listA[i], listB[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if !equal(a, b) {
		return fmt.Sprintf("%s was %v and is %v", path, a, b)
	}
	return ""
}

// unknowns lists the places where a value holds an arm or a string that the
// types do not know.
func unknowns(v reflect.Value, path string) []string {
	if v.IsValid() && v.CanInterface() {
		switch x := v.Interface().(type) {
		case *protocol.Unknown:
			return []string{path + " is an unknown arm"}
		case interface{ Known() bool }:
			if v.Kind() == reflect.String && v.String() != "" && !x.Known() {
				return []string{fmt.Sprintf("%s is the unknown string %q", path, v.String())}
			}
		}
	}
	var list []string
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			list = unknowns(v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			list = append(list, unknowns(v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				list = append(list, unknowns(v.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			list = append(list, unknowns(v.MapIndex(key), path+"."+key.String())...)
		}
	}
	return list
}
