package emit

import (
	"strings"

	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

// typeDoc says what a definition is: where it travels, how stable it is and
// what null means in it. Codex's own prose is added on request only.
func (e *emitter) typeDoc(t *model.Type) string {
	text := t.Name + " is " + shapeWords(t)
	if len(t.Used) > 0 {
		text += ", the " + listing(t.Used)
	}
	text += "." + travelWords(t) + nullWords(t)
	var lines []string
	lines = append(lines, text)
	if s := stability(t.Experimental, t.Unstable); s != "" {
		lines = append(lines, "", s)
	}
	if e.options.Descriptions && t.Description != "" {
		lines = append(lines, "", t.Description)
	}
	if t.Deprecated {
		lines = append(lines, "", "Deprecated: Codex says so.")
	}
	return comment(lines)
}

func shapeWords(t *model.Type) string {
	switch t.Kind {
	case model.KindString:
		return "a string"
	case model.KindEnum:
		return "a string with known values, open to others"
	case model.KindNullable:
		return t.Elem.Name + " or null"
	case model.KindUnion:
		switch t.Union.Form {
		case model.UnionTagged:
			return "a union told apart by its member " + t.Union.Tag
		case model.UnionMixed:
			return "a union of strings and of objects with one member"
		}
		return "a union without a tag"
	}
	return "an object"
}

func travelWords(t *model.Type) string {
	switch {
	case t.Up && t.Down:
		return " It travels both ways."
	case t.Up:
		return " It travels to the server."
	case t.Down:
		return " It comes from the server."
	}
	return " No method refers to it."
}

// nullWords says what null means, where fields may hold it.
func nullWords(t *model.Type) string {
	var opt, pointer bool
	for _, f := range t.Fields {
		opt = opt || f.Form == model.FormOpt
		pointer = pointer || f.Nullable && f.Form == model.FormPointer && !f.Required
	}
	switch {
	case opt:
		return " Its Opt members may be absent or null: where Codex tells the two apart, absent keeps and null clears."
	case pointer:
		return " Nil stands for both null and absent."
	}
	return ""
}

func stability(experimental, unstable bool) string {
	switch {
	case experimental:
		return "Experimental: only with the experimentalApi capability."
	case unstable:
		return "Unstable: Codex reserves the right to change it."
	}
	return ""
}

func (e *emitter) fieldDoc(f *model.Field) string {
	var lines []string
	if s := stability(f.Experimental, f.Unstable); s != "" {
		lines = append(lines, s)
	}
	if f.Required && f.Nullable {
		lines = append(lines, "Always written: nil is null.")
	}
	if e.options.Descriptions && f.Description != "" {
		lines = append(lines, f.Description)
	}
	if f.Deprecated {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, "Deprecated: Codex says so.")
	}
	return comment(lines)
}

// comment joins lines into one comment and breaks what is too long.
func comment(lines []string) string {
	const width = 96
	var out []string
	for _, line := range lines {
		for _, part := range strings.Split(line, "\n") {
			for len(part) > width {
				cut := strings.LastIndexByte(part[:width], ' ')
				if cut <= 0 {
					break
				}
				out = append(out, part[:cut])
				part = part[cut+1:]
			}
			out = append(out, part)
		}
	}
	// The // form, even over several lines: it is what gofmt leaves alone.
	for i, line := range out {
		out[i] = strings.TrimRight("// "+line, " ")
	}
	return strings.Join(out, "\n")
}

// listing joins names for a sentence, at most three of them.
func listing(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + " and others"
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}
