package emit

import (
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

func (e *emitter) unions(f *jen.File) {
	for _, t := range e.model.Types {
		if t.Kind == model.KindUnion {
			e.union(f, t)
		}
	}
}

// tagMethod is the method that makes a type an arm of the union.
func tagMethod(t *model.Type) string {
	runes := []rune(t.Name)
	runes[0] = unicode.ToLower(runes[0])
	return string(runes) + "Tag"
}

func (e *emitter) union(f *jen.File, t *model.Type) {
	f.Comment(e.typeDoc(t))
	f.Type().Id(t.Name).StructFunc(func(g *jen.Group) {
		for _, field := range e.fields(t.Fields) {
			g.Add(field)
		}
		g.Id("Arm").Id(t.Name + "Arm").Tag(map[string]string{"json": "-"})
	})
	f.Line()
	f.Comment(comment([]string{t.Name + "Arm is " + armWords(t) + " Nil is written as null."}))
	f.Type().Id(t.Name + "Arm").Interface(jen.Id(tagMethod(t)).Params().String())
	f.Line()
	if t.Union.Strings != "" {
		f.Comment(comment([]string{t.Union.Strings + " is the arm of " + t.Name + " that is a bare string, open to values that are not listed."}))
		e.enum(f, t.Union.Strings, t.Union.Values)
		e.armMethod(f, t, jen.Id("v").Id(t.Union.Strings), jen.String().Call(jen.Id("v")))
	}
	for _, a := range t.Union.Arms {
		e.arm(f, t, a)
	}
	e.armMethod(f, t, jen.Op("*").Id("Unknown"), jen.Lit(""))
	e.unionJSON(f, t)
}

func armWords(t *model.Type) string {
	text := "one of"
	var names []string
	if t.Union.Strings != "" {
		names = append(names, t.Union.Strings)
	}
	for _, a := range t.Union.Arms {
		names = append(names, armType(a))
	}
	names = append(names, "*Unknown")
	if len(names) > 24 {
		return "a pointer to one of the types whose names start with " + t.Name + ", or *Unknown."
	}
	for i, n := range names {
		switch {
		case i == 0:
			text += " " + n
		case i == len(names)-1:
			text += " or " + n
		default:
			text += ", " + n
		}
	}
	return text + "."
}

// armType is how an arm is held: objects by pointer, bare strings, numbers and
// lists as named values.
func armType(a *model.Arm) string {
	if bare(a) {
		return a.Go
	}
	return "*" + a.Go
}

func bare(a *model.Arm) bool { return a.Elem != nil && a.Fields == nil && !a.Member }

func (e *emitter) arm(f *jen.File, t *model.Type, a *model.Arm) {
	if a.Named == "" {
		lines := []string{a.Go + " is the arm " + a.Wire + " of " + t.Name + "."}
		if e.options.Descriptions && a.Description != "" {
			lines = append(lines, "", a.Description)
		}
		f.Comment(comment(lines))
		switch {
		case bare(a):
			f.Type().Id(a.Go).Add(ref(a.Elem))
		case a.Elem != nil:
			f.Type().Id(a.Go).Struct(jen.Id("Value").Add(ref(a.Elem)).Tag(map[string]string{"json": a.Wire}))
		default:
			f.Type().Id(a.Go).Struct(e.fields(a.Fields)...)
		}
		f.Line()
	}
	receiver := jen.Op("*").Id(a.Go)
	if bare(a) {
		receiver = jen.Id(a.Go)
	}
	e.armMethod(f, t, receiver, jen.Lit(a.Wire))
}

func (e *emitter) armMethod(f *jen.File, t *model.Type, receiver *jen.Statement, tag jen.Code) {
	f.Func().Params(receiver).Id(tagMethod(t)).Params().String().Block(jen.Return(tag))
	f.Line()
}

// unionJSON writes the four methods that make a union work with both JSON
// libraries, and the decoder that they share.
func (e *emitter) unionJSON(f *jen.File, t *model.Type) {
	u := func() *jen.Statement { return jen.Id("u") }
	f.Comment("UnmarshalJSONFrom reads the arm that the value says it is.")
	f.Func().Params(u().Op("*").Id(t.Name)).Id("UnmarshalJSONFrom").Params(jen.Id("dec").Op("*").Qual(jsontextPath, "Decoder")).Error().Block(
		jen.Return(jen.Id("decodeFrom").Call(jen.Id("dec"), u())),
	)
	f.Line()
	f.Comment("UnmarshalJSON is UnmarshalJSONFrom for encoding/json.")
	f.Func().Params(u().Op("*").Id(t.Name)).Id("UnmarshalJSON").Params(jen.Id("raw").Index().Byte()).Error().Block(
		jen.Return(jen.Id("decodeAll").Call(jen.Id("raw"), u())),
	)
	f.Line()
	f.Comment("MarshalJSON is MarshalJSONTo for encoding/json.")
	f.Func().Params(u().Id(t.Name)).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).Block(
		jen.Return(jen.Id("encode").Call(u())),
	)
	f.Line()
	f.Comment("MarshalJSONTo writes the arm.")
	f.Func().Params(u().Id(t.Name)).Id("MarshalJSONTo").Params(jen.Id("enc").Op("*").Qual(jsontextPath, "Encoder")).Error().Block(e.encodeBody(t)...)
	f.Line()
}

func (e *emitter) encodeBody(t *model.Type) []jen.Code {
	null := jen.If(jen.Id("u").Dot("Arm").Op("==").Nil()).Block(
		jen.Return(jen.Id("enc").Dot("WriteToken").Call(jen.Qual(jsontextPath, "Null"))),
	)
	switch t.Union.Form {
	case model.UnionTagged:
		tagged := jen.Return(jen.Id("encodeTagged").Call(jen.Id("enc"), jen.Lit(t.Union.Tag), jen.Id("u").Dot("Arm").Dot(tagMethod(t)).Call(), jen.Id("u").Dot("Arm")))
		if len(t.Fields) == 0 {
			return []jen.Code{null, tagged}
		}
		return []jen.Code{
			jen.If(jen.List(jen.Id("arm"), jen.Id("ok")).Op(":=").Id("u").Dot("Arm").Assert(jen.Op("*").Id("Unknown")), jen.Id("ok")).Block(
				jen.Return(jen.Id("enc").Dot("WriteValue").Call(jen.Id("arm").Dot("Raw"))),
			),
			jen.Type().Id("plain").Id(t.Name),
			jen.Return(jen.Id("encodeBeside").Call(jen.Id("enc"), jen.Id("plain").Call(jen.Id("u")), jen.Func().Params(jen.Id("enc").Op("*").Qual(jsontextPath, "Encoder")).Error().Block(null, tagged))),
		}
	case model.UnionMixed:
		return []jen.Code{
			jen.Switch(jen.Id("arm").Op(":=").Id("u").Dot("Arm").Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
				g.Case(jen.Nil()).Block(jen.Return(jen.Id("enc").Dot("WriteToken").Call(jen.Qual(jsontextPath, "Null"))))
				for _, a := range t.Union.Arms {
					if a.Elem == nil {
						g.Case(jen.Op("*").Id(a.Go)).Block(jen.Return(jen.Id("encodeMember").Call(jen.Id("enc"), jen.Lit(a.Wire), jen.Id("arm"))))
					}
				}
				g.Case(jen.Op("*").Id("Unknown")).Block(jen.Return(jen.Id("enc").Dot("WriteValue").Call(jen.Id("arm").Dot("Raw"))))
			}),
			jen.Return(jen.Qual(jsonPath, "MarshalEncode").Call(jen.Id("enc"), jen.Id("u").Dot("Arm"))),
		}
	}
	return []jen.Code{
		null,
		jen.If(jen.List(jen.Id("arm"), jen.Id("ok")).Op(":=").Id("u").Dot("Arm").Assert(jen.Op("*").Id("Unknown")), jen.Id("ok")).Block(
			jen.Return(jen.Id("enc").Dot("WriteValue").Call(jen.Id("arm").Dot("Raw"))),
		),
		jen.Return(jen.Qual(jsonPath, "MarshalEncode").Call(jen.Id("enc"), jen.Id("u").Dot("Arm"))),
	}
}

func armOf(t *model.Type, name string) *model.Arm {
	for _, a := range t.Union.Arms {
		if a.Go == name {
			return a
		}
	}
	panic("emit: " + t.Name + " has no arm " + name)
}

var kindByte = map[string]rune{"string": '"', "number": '0', "array": '[', "object": '{'}

// condition is true when the rule applies to the value that c is at.
func condition(p model.Pick) jen.Code {
	if p.Kind != "" {
		return jen.Id("c").Dot("kind").Call().Op("==").LitRune(kindByte[p.Kind])
	}
	var terms []*jen.Statement
	if p.Is[0] != "" {
		terms = append(terms, jen.String().Call(jen.Id("c").Dot("tag").Call(jen.Lit(p.Is[0]))).Op("==").Lit(p.Is[1]))
	}
	if len(p.Has) > 0 {
		terms = append(terms, jen.Id("c").Dot("has").CallFunc(func(g *jen.Group) {
			for _, name := range p.Has {
				g.Lit(name)
			}
		}))
	}
	if p.Lacks != "" {
		terms = append(terms, jen.Op("!").Id("c").Dot("has").Call(jen.Lit(p.Lacks)))
	}
	code := terms[0]
	for _, term := range terms[1:] {
		code = code.Op("&&").Add(term)
	}
	return code
}
