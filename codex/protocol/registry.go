package protocol

import (
	"reflect"
	"sync"
)

var registry = sync.OnceValue(func() map[string]reflect.Type {
	types := make(map[string]reflect.Type, len(definitions))
	for _, d := range definitions {
		types[d.name] = reflect.TypeOf(d.pointer).Elem()
	}
	return types
})

// New returns a pointer to a new value of the type that the schema, or a
// [Method], calls name; nil when there is none. A program that calls it links
// every type of the protocol.
func New(name string) any {
	t, ok := registry()[name]
	if !ok {
		return nil
	}
	return reflect.New(t).Interface()
}
