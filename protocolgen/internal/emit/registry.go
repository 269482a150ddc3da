package emit

import "github.com/dave/jennifer/jen"

// registry writes the way from a type's name to a value of it.
func (e *emitter) registry(f *jen.File) {
	f.Comment(comment([]string{
		"New returns a pointer to a new value of the type that the schema calls name, or that [Method] names, nil when there is none.",
		"A program that calls it links every type of the protocol.",
	}))
	f.Func().Id("New").Params(jen.Id("name").String()).Any().Block(
		jen.Switch(jen.Id("name")).BlockFunc(func(g *jen.Group) {
			for _, t := range e.model.Types {
				g.Case(jen.Lit(t.Name)).Block(jen.Return(jen.New(jen.Id(t.Name))))
			}
			for _, m := range e.model.Methods {
				if m.Wraps != "" {
					g.Case(jen.Lit(m.Notification)).Block(jen.Return(jen.New(jen.Id(m.Notification))))
				}
			}
		}),
		jen.Return(jen.Nil()),
	)
}
