// Package model says what Go package a Codex schema becomes: which types, with
// which fields, which unions with which arms, which methods. It decides every
// name and every rule; the emit package only writes down what it finds here.
package model

// Package is everything that the generated package holds.
type Package struct {
	Version            string
	StableSHA256       string
	ExperimentalSHA256 string
	TopLevel           int // definitions of the bundle beside v2
	Nested             int // definitions of the bundle under v2
	Shared             int // names in both

	Types   []*Type // by name
	Methods []*Method

	byName map[string]*Type
}

// Kind is the shape of a generated type.
type Kind int

// The shapes that a definition can take.
const (
	KindStruct   Kind = iota
	KindString        // a string without a list of values
	KindEnum          // a string with known values, open to others
	KindUnion         // one of several arms
	KindNullable      // another definition or null
)

// Type is one definition.
type Type struct {
	Name         string
	Kind         Kind
	Up, Down     bool // travels to the server, comes from it; neither when no method reaches it
	Pushed       bool // part of a notification
	Experimental bool // missing from the stable bundle
	Unstable     bool // Codex's own description says so
	Deprecated   bool
	Description  string
	Used         []string // wire methods that name the type directly, with the role in front

	Fields []*Field // KindStruct; the fields beside the arm of a KindUnion
	Rest   bool     // KindStruct; it has members that no field describes, to be kept
	Values []*Value // KindEnum
	Union  *Union   // KindUnion
	Elem   *Ref     // KindNullable
}

// Lossless reports whether the type must tell absent from null, because it
// travels to the server or because nothing says that it does not.
func (t *Type) Lossless() bool { return t.Up || !t.Down }

// Value is one known value of an open string type.
type Value struct {
	Go, Wire    string
	Description string
}

// Field is one member of a JSON object.
type Field struct {
	Go, Wire     string
	Type         *Ref
	Required     bool
	Nullable     bool
	Form         Form
	Experimental bool
	Unstable     bool
	Deprecated   bool
	Description  string
}

// Form is how a field holds what may be missing.
type Form int

// The forms of a field.
const (
	FormPlain   Form = iota // T
	FormPointer             // *T
	FormOpt                 // Opt[T]
)

// OmitZero reports whether the zero value of the field is left out.
func (f *Field) OmitZero() bool { return !f.Required }

// RefKind is the shape of a reference.
type RefKind int

// The shapes of a reference.
const (
	RefNamed RefKind = iota // a generated type
	RefBasic                // string, bool, int64 …
	RefSlice
	RefMap // keyed by string
	RefAny // any JSON value
	RefOpt // an element that may be null
)

// Ref is a use of a type.
type Ref struct {
	Kind RefKind
	Name string
	Elem *Ref
}

// Union is a value of which exactly one arm is present.
type Union struct {
	Form UnionForm
	Tag  string // the member that names the arm, for UnionTagged
	Arms []*Arm
	// Pick decides the arm of an untagged union, first match wins.
	Pick []Pick
	// Strings is the name of the string type of a mixed union.
	Strings string
	Values  []*Value
}

// UnionForm is how a union tells its arms apart.
type UnionForm int

// The forms of a union.
const (
	UnionTagged   UnionForm = iota // by the string in one member
	UnionMixed                     // a string, or an object with one member that names the arm
	UnionUntagged                  // by a rule of our own
)

// Arm is one alternative of a union.
type Arm struct {
	Go          string // the Go type
	Wire        string // the tag, the member name or the label of the rule
	Description string

	// One of these says what the arm holds.
	Fields []*Field // a struct of its own
	Elem   *Ref     // the value: of a named type (a string, a number, a list), or of the one member of an object
	Member bool     // Elem is the value of a member called Wire
	Named  string   // another definition, which is the arm itself
}

// Method is one row of the method table.
type Method struct {
	Wire         string
	Go           string // identifier without suffix
	Direction    Direction
	Params       *Ref // nil when the method takes none
	ParamsNull   bool // the params may be null or absent
	Result       string
	Experimental bool
	Unstable     bool
	Deprecated   bool
	Reads        bool
	Notification string // the Go type that implements Notification
	Wraps        string // the definition that Notification embeds, when methods share one
	Description  string
}

// Direction says who sends a method and whether it is answered.
type Direction int

// The directions.
const (
	ClientRequest Direction = iota
	ServerRequest
	ServerNotification
	ClientNotification
)

// Type returns the definition with the name, or nil.
func (p *Package) Type(name string) *Type { return p.byName[name] }

// Count returns how many methods have the direction.
func (p *Package) Count(d Direction) int {
	n := 0
	for _, m := range p.Methods {
		if m.Direction == d {
			n++
		}
	}
	return n
}
