package diff

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// longest is how many lines a section of the page has; JSON has them all.
const longest = 40

// Page writes the report as plain text, what the module uses first.
func (r *Report) Page(w io.Writer) error {
	var p strings.Builder
	fmt.Fprintf(&p, "Codex protocol: %s → %s\n", r.Old.title(), r.New.title())
	fmt.Fprintf(&p, "methods      %d → %d   %s\n", r.Old.Methods, r.New.Methods, tally(r.Methods))
	fmt.Fprintf(&p, "definitions  %d → %d   %s\n", r.Old.Definitions, r.New.Definitions, tally(r.Types))
	if len(r.Methods)+len(r.Types) == 0 {
		p.WriteString("\nNo difference on the wire.\n")
		_, err := io.WriteString(w, p.String())
		return err
	}
	used := func(c Change) bool { return c.UsedBy != "" }
	unused := func(c Change) bool { return c.UsedBy == "" }
	section(&p, "Methods this module uses", r.Methods, used)
	section(&p, "Types this module uses", r.Types, used)
	section(&p, "Other methods", r.Methods, unused)
	section(&p, "Other types", r.Types, unused)
	_, err := io.WriteString(w, p.String())
	return err
}

func (s Side) title() string {
	return cmp.Or(s.Version, "bundle "+s.SHA256[:min(12, len(s.SHA256))])
}

func tally(list []Change) string {
	count := map[string]int{}
	for _, c := range list {
		count[c.What]++
	}
	return fmt.Sprintf("%d added, %d removed, %d retyped", count[Added], count[Removed], count[Retyped])
}

var marks = map[string]string{Added: "+", Removed: "-", Retyped: "~"}

func section(p *strings.Builder, title string, list []Change, keep func(Change) bool) {
	n := 0
	for _, c := range list {
		if !keep(c) {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintf(p, "\n%s\n", title)
		}
		if n <= longest {
			p.WriteString("  " + c.line() + "\n")
		}
	}
	if n > longest {
		fmt.Fprintf(p, "  … and %d more; -json lists all\n", n-longest)
	}
}

func (c Change) line() string {
	text := marks[c.What] + " " + c.Name + ": "
	switch c.What {
	case Added:
		text += c.Is
	case Removed:
		text += "was " + c.Was
	case Retyped:
		text += c.Was + " → " + c.Is
	}
	if c.UsedBy != "" {
		text += "  (" + c.UsedBy + ")"
	}
	return text
}
