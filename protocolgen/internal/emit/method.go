package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

var directionNames = map[model.Direction]string{
	model.ClientRequest:      "DirClientRequest",
	model.ServerRequest:      "DirServerRequest",
	model.ServerNotification: "DirServerNotification",
	model.ClientNotification: "DirClientNotification",
}

func paramsType(m *model.Method) *jen.Statement {
	switch {
	case m.Params == nil:
		return jen.Id("NoParams")
	case m.ParamsNull:
		return jen.Op("*").Id(m.Params.Name)
	}
	return jen.Id(m.Params.Name)
}

func (e *emitter) methods(f *jen.File) {
	f.Comment("methodTable holds every method, sorted by direction and name.")
	f.Var().Id("methodTable").Op("=").Index(jen.Op("...")).Id("Method").ValuesFunc(func(g *jen.Group) {
		for _, m := range e.model.Methods {
			g.Line().Values(row(m))
		}
		g.Line()
	})
	f.Line()
	for i, m := range e.model.Methods {
		if m.Direction != model.ClientRequest && m.Direction != model.ServerRequest {
			continue
		}
		handle, name := "ClientMethod", m.Go+"Method"
		if m.Direction == model.ServerRequest {
			handle, name = "ServerMethod", m.Go+"Request"
		}
		f.Comment(e.methodDoc(name, m))
		f.Var().Id(name).Op("=").Id(handle).Types(paramsType(m), jen.Id(m.Result)).Values(jen.Op("&").Id("methodTable").Index(jen.Lit(i)))
		f.Line()
	}
}

func row(m *model.Method) jen.Dict {
	d := jen.Dict{
		jen.Id("Name"):      jen.Lit(m.Wire),
		jen.Id("Direction"): jen.Id(directionNames[m.Direction]),
	}
	switch {
	case m.Notification != "":
		d[jen.Id("Params")] = jen.Lit(m.Notification)
	case m.Params != nil:
		d[jen.Id("Params")] = jen.Lit(m.Params.Name)
	}
	if m.Result != "" {
		d[jen.Id("Result")] = jen.Lit(m.Result)
	}
	for name, on := range map[string]bool{"Experimental": m.Experimental, "Unstable": m.Unstable, "Deprecated": m.Deprecated} {
		if on {
			d[jen.Id(name)] = jen.True()
		}
	}
	if m.Reads {
		d[jen.Id("Effect")] = jen.Id("Reads")
	}
	return d
}

func (e *emitter) methodDoc(name string, m *model.Method) string {
	text := name + " is the " + directionWords[m.Direction] + " " + m.Wire + "."
	if m.Direction == model.ClientRequest {
		if m.Reads {
			text += " It reads."
		} else {
			text += " It mutates."
		}
	}
	if m.Params == nil {
		text += " It takes no params."
	} else if m.ParamsNull {
		text += " Its params may be nil."
	}
	lines := []string{text}
	if s := stability(m.Experimental, m.Unstable); s != "" {
		lines = append(lines, "", s)
	}
	if e.options.Descriptions && m.Description != "" {
		lines = append(lines, "", m.Description)
	}
	if m.Deprecated {
		lines = append(lines, "", "Deprecated: Codex says so.")
	}
	return comment(lines)
}

var directionWords = map[model.Direction]string{
	model.ClientRequest:      "client request",
	model.ServerRequest:      "server request",
	model.ServerNotification: "notification",
	model.ClientNotification: "client notification",
}

func (e *emitter) notifications(f *jen.File) {
	f.Comment("The wire names of the notifications.")
	f.Const().DefsFunc(func(g *jen.Group) {
		for _, m := range e.model.Methods {
			switch m.Direction {
			case model.ServerNotification:
				g.Id("Notify" + m.Go).Op("=").Lit(m.Wire)
			case model.ClientNotification:
				g.Id("Notify" + m.Go).Op("=").Lit(m.Wire).Comment("sent by the client")
			}
		}
	})
	f.Line()
	for _, m := range e.model.Methods {
		if m.Notification == "" {
			continue
		}
		if m.Wraps != "" {
			f.Comment(e.methodDoc(m.Notification, m))
			f.Type().Id(m.Notification).Struct(jen.Id(m.Wraps))
			f.Line()
		}
		f.Comment("NotificationMethod returns " + m.Wire + ".")
		f.Func().Params(jen.Op("*").Id(m.Notification)).Id("NotificationMethod").Params().String().Block(jen.Return(jen.Id("Notify" + m.Go)))
		f.Line()
	}
	f.Func().Id("newNotification").Params(jen.Id("method").String()).Id("Notification").Block(
		jen.Switch(jen.Id("method")).BlockFunc(func(g *jen.Group) {
			for _, m := range e.model.Methods {
				if m.Notification != "" {
					g.Case(jen.Id("Notify" + m.Go)).Block(jen.Return(jen.New(jen.Id(m.Notification))))
				}
			}
		}),
		jen.Return(jen.Nil()),
	)
}
