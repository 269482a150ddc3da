package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

// decoders writes a decode method for every object that is part of a notification
// and for every union: a single pass over the text, member by member, with no
// reflection. All other objects are left to reflection, because the methods for
// them would make the package three times slower to compile and nobody waits
// for a result a thousand times a second.
func (e *emitter) decoders(f *jen.File) {
	for _, t := range e.model.Types {
		switch t.Kind {
		case model.KindStruct:
			if t.Pushed {
				e.structDecoder(f, t.Name, t.Fields)
			}
		case model.KindUnion:
			for _, a := range t.Union.Arms {
				if t.Pushed && a.Named == "" && !bare(a) && !a.Member {
					e.structDecoder(f, a.Go, a.Fields)
				}
			}
			e.unionDecoder(f, t)
		}
	}
}

func cursorParam() jen.Code { return jen.Id("c").Op("*").Id("cursor") }

func (e *emitter) structDecoder(f *jen.File, name string, fields []*model.Field) {
	f.Func().Params(jen.Id("v").Op("*").Id(name)).Id("decode").Params(cursorParam()).Block(
		jen.If(jen.Id("c").Dot("null").Call()).Block(
			jen.Op("*").Id("v").Op("=").Id(name).Values(),
			jen.Return(),
		),
		e.memberLoop(fields),
	)
	f.Line()
}

// memberLoop reads the members of an object into the fields of v.
func (e *emitter) memberLoop(fields []*model.Field) jen.Code {
	skip := jen.Id("c").Dot("skip").Call()
	if len(fields) == 0 {
		return jen.Id("c").Dot("skipObject").Call()
	}
	return jen.For(jen.Id("c").Dot("open").Call(jen.LitRune('{')), jen.Id("c").Dot("more").Call(jen.LitRune('}')), jen.Empty()).Block(
		jen.Switch(jen.String().Call(jen.Id("c").Dot("name").Call())).BlockFunc(func(g *jen.Group) {
			for _, field := range fields {
				g.Case(jen.Lit(field.Wire)).Block(e.read(field))
			}
			g.Default().Block(skip)
		}),
	)
}

// read reads the value of one field.
func (e *emitter) read(f *model.Field) jen.Code {
	target := jen.Id("v").Dot(f.Go)
	at := jen.Op("&").Add(target)
	switch f.Form {
	case model.FormPointer:
		return jen.Id("readPointer").Call(at, jen.Id("c"), e.reader(f.Type))
	case model.FormOpt:
		return jen.Id("readOpt").Call(at, jen.Id("c"), e.reader(f.Type))
	}
	return e.readInto(target, at, f.Type)
}

// readInto reads a value of the type into what at points to, which is target or
// what target points to.
func (e *emitter) readInto(target, at *jen.Statement, r *model.Ref) jen.Code {
	switch r.Kind {
	case model.RefSlice:
		return jen.Id("readSlice").Call(at, jen.Id("c"), e.reader(r.Elem))
	case model.RefMap:
		return jen.Id("readMap").Call(at, jen.Id("c"), e.reader(r.Elem))
	case model.RefOpt:
		return jen.Id("readOpt").Call(at, jen.Id("c"), e.reader(r.Elem))
	case model.RefAny:
		return jen.Id("readAny").Call(at, jen.Id("c"))
	case model.RefBasic:
		if name := basicReader(r.Name); name != "" {
			return jen.Id(name).Call(at, jen.Id("c"))
		}
	case model.RefNamed:
		switch t := e.model.Type(r.Name); {
		case t.Kind == model.KindString || t.Kind == model.KindEnum:
			return jen.Id("readText").Call(at, jen.Id("c"))
		case t.Kind == model.KindNullable:
			return jen.Id("readOpt").Call(at, jen.Id("c"), e.reader(t.Elem))
		case e.decodes(r.Name):
			return target.Clone().Dot("decode").Call(jen.Id("c"))
		}
	}
	return jen.Id("c").Dot("reflect").Call(at)
}

// reader is a function that reads a value of the type.
func (e *emitter) reader(r *model.Ref) jen.Code {
	switch r.Kind {
	case model.RefAny:
		return jen.Id("readAny")
	case model.RefBasic:
		switch name := basicReader(r.Name); name {
		case "":
		case "readBool":
			return jen.Id(name)
		default:
			return jen.Id(name).Types(jen.Id(r.Name))
		}
	case model.RefNamed:
		switch t := e.model.Type(r.Name); {
		case t.Kind == model.KindString || t.Kind == model.KindEnum:
			return jen.Id("readText").Types(jen.Id(r.Name))
		case e.decodes(r.Name):
			return jen.Parens(jen.Op("*").Id(r.Name)).Dot("decode")
		}
	}
	return jen.Func().Params(jen.Id("p").Op("*").Add(ref(r)), cursorParam()).Block(
		e.readInto(jen.Id("p"), jen.Id("p"), r),
	)
}

// decodes reports whether the definition has a decode method.
func (e *emitter) decodes(name string) bool {
	t := e.model.Type(name)
	return t.Pushed || t.Kind == model.KindUnion
}

// basicReader is the function for a basic type, "" for the rare ones without.
func basicReader(name string) string {
	switch {
	case name == "string":
		return "readText"
	case name == "bool":
		return "readBool"
	case strings.HasPrefix(name, "uint"):
		return "readUint"
	case strings.HasPrefix(name, "int"):
		return "readInt"
	}
	return ""
}

func (e *emitter) unionDecoder(f *jen.File, t *model.Type) {
	var body []jen.Code
	if len(t.Fields) > 0 {
		body = append(body, jen.Id("start").Op(":=").Op("*").Id("c"))
	}
	body = append(body,
		jen.Op("*").Id("v").Op("=").Id(t.Name).Values(),
		jen.If(jen.Id("c").Dot("null").Call()).Block(jen.Return()),
	)
	if len(t.Fields) > 0 {
		// The members beside the arm lie in the same object: it is read twice.
		body = append(body,
			jen.If(jen.Id("c").Dot("peek").Call().Op("==").LitRune('{')).Block(
				e.memberLoop(t.Fields),
				jen.If(jen.Id("c").Dot("err").Op("!=").Nil()).Block(jen.Return()),
				jen.Op("*").Id("c").Op("=").Id("start"),
			),
		)
	}
	unknown := jen.Id("v").Dot("Arm").Op("=").Id("c").Dot("unknown").Call()
	switch t.Union.Form {
	case model.UnionTagged:
		body = append(body, jen.Switch(jen.String().Call(jen.Id("c").Dot("tag").Call(jen.Lit(t.Union.Tag)))).BlockFunc(func(g *jen.Group) {
			for _, a := range t.Union.Arms {
				g.Case(jen.Lit(a.Wire)).Block(e.readArm(t, a)...)
			}
			g.Default().Block(unknown)
		}))
	case model.UnionMixed:
		body = append(body, e.mixedBody(t, unknown))
	case model.UnionUntagged:
		body = append(body, jen.Switch().BlockFunc(func(g *jen.Group) {
			for _, p := range t.Union.Pick {
				g.Case(condition(p)).Block(e.readArm(t, armOf(t, p.Arm))...)
			}
			g.Default().Block(unknown)
		}))
	}
	f.Func().Params(jen.Id("v").Op("*").Id(t.Name)).Id("decode").Params(cursorParam()).Block(body...)
	f.Line()
}

// readArm reads the value into a new arm.
func (e *emitter) readArm(t *model.Type, a *model.Arm) []jen.Code {
	if bare(a) {
		at := jen.Op("&").Id("arm")
		read := jen.Id(basicReader(a.Elem.Name)).Call(at, jen.Id("c"))
		if a.Elem.Kind == model.RefSlice {
			read = jen.Id("readSlice").Call(jen.Parens(jen.Op("*").Add(ref(a.Elem))).Call(at), jen.Id("c"), e.reader(a.Elem.Elem))
		}
		return []jen.Code{
			jen.Var().Id("arm").Id(a.Go),
			read,
			jen.Id("v").Dot("Arm").Op("=").Id("arm"),
		}
	}
	target := jen.Id("arm")
	code := []jen.Code{
		target.Clone().Op(":=").New(jen.Id(a.Go)),
		jen.Id("v").Dot("Arm").Op("=").Id("arm"),
	}
	if a.Member {
		value := jen.Id("arm").Dot("Value")
		return append(code, e.readInto(value, jen.Op("&").Add(value), a.Elem))
	}
	if a.Named != "" && e.decodes(a.Named) || a.Named == "" && t.Pushed {
		return append(code, jen.Id("arm").Dot("decode").Call(jen.Id("c")))
	}
	return append(code, jen.Id("c").Dot("reflect").Call(jen.Id("arm")))
}

// mixedBody reads a bare string, or an object of which one member is the arm.
func (e *emitter) mixedBody(t *model.Type, unknown jen.Code) jen.Code {
	return jen.Switch(jen.Id("c").Dot("peek").Call()).Block(
		jen.Case(jen.LitRune('"')).Block(
			jen.Var().Id("arm").Id(t.Union.Strings),
			jen.Id("readText").Call(jen.Op("&").Id("arm"), jen.Id("c")),
			jen.Id("v").Dot("Arm").Op("=").Id("arm"),
		),
		jen.Case(jen.LitRune('{')).Block(
			jen.Id("start").Op(":=").Op("*").Id("c"),
			jen.For(jen.Id("c").Dot("open").Call(jen.LitRune('{')), jen.Id("c").Dot("more").Call(jen.LitRune('}')), jen.Empty()).Block(
				jen.Switch(jen.String().Call(jen.Id("c").Dot("name").Call())).BlockFunc(func(g *jen.Group) {
					for _, a := range t.Union.Arms {
						g.Case(jen.Lit(a.Wire)).Block(e.readArm(t, a)...)
					}
					g.Default().Block(jen.Id("c").Dot("skip").Call())
				}),
			),
			jen.If(jen.Id("v").Dot("Arm").Op("==").Nil().Op("&&").Id("c").Dot("err").Op("==").Nil()).Block(
				jen.Op("*").Id("c").Op("=").Id("start"),
				unknown,
			),
		),
		jen.Default().Block(unknown),
	)
}
