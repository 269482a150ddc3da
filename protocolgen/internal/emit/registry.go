package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

// registry writes the way from a type's name to the type. It is data, not code:
// a function with a case for each would take as long to compile as a quarter of
// the package.
func (e *emitter) registry(f *jen.File) {
	f.Comment("definitions holds a nil pointer to every definition of the schema and to the notifications that have a type of their own.")
	f.Var().Id("definitions").Op("=").Index(jen.Op("...")).Struct(
		jen.Id("name").String(),
		jen.Id("pointer").Any(),
	).ValuesFunc(func(g *jen.Group) {
		row := func(name string) {
			g.Line().Values(jen.Lit(name), jen.Parens(jen.Op("*").Id(name)).Call(jen.Nil()))
		}
		for _, t := range e.model.Types {
			row(t.Name)
		}
		for _, m := range e.model.Methods {
			if m.Direction == model.ServerNotification && m.Wraps != "" {
				row(m.Notification)
			}
		}
		g.Line()
	})
}
