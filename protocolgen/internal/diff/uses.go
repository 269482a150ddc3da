package diff

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/codexctl/codexctl/protocolgen/internal/load"
	"github.com/codexctl/codexctl/protocolgen/internal/model"
)

// Uses is what the Go code of a module takes from the generated package. A nil
// Uses uses nothing.
type Uses struct {
	names  map[string][]string // identifier of the package → files that name it
	fields map[string][]string // any selector or key in those files → files
}

// Scan reads the Go files under root that import the package, tests left out.
// It works on names, without types: a field counts as used when a file that
// imports the package mentions a field of that name.
func Scan(root, importPath string) (*Uses, error) {
	u := &Uses{names: map[string][]string{}, fields: map[string][]string{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		return u.scanFile(root, path, importPath)
	})
	if err != nil {
		return nil, fmt.Errorf("look for uses of %s: %w", importPath, err)
	}
	return u, nil
}

func (u *Uses) scanFile(root, path, importPath string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	local := localName(file, importPath)
	if local == "" {
		return nil
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	note := func(set map[string][]string, key string) {
		if !slices.Contains(set[key], name) {
			set[key] = append(set[key], name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == local {
				note(u.names, n.Sel.Name)
			} else {
				note(u.fields, n.Sel.Name)
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				note(u.fields, key.Name)
			}
		}
		return true
	})
	return nil
}

// localName is what the file calls the package, "" if it does not import it.
func localName(file *ast.File, importPath string) string {
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err != nil || path != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return importPath[strings.LastIndexByte(importPath, '/')+1:]
	}
	return ""
}

// method says who uses a method, "" if nobody does.
func (u *Uses) method(direction, wire string) string {
	if u == nil {
		return ""
	}
	return where(u.names[methodIdentifier(direction, wire)])
}

func methodIdentifier(direction, wire string) string {
	switch direction {
	case "client request":
		return model.GoName(wire) + "Method"
	case "server request":
		return model.GoName(wire) + "Request"
	}
	return "Notify" + model.GoName(wire)
}

// reach maps every definition that the code depends on to why: it names it, or
// it names something whose fields lead there.
func (u *Uses) reach(b *load.Bundle) map[string]string {
	reach := map[string]string{}
	if u == nil {
		return reach
	}
	var spread func(name, why string)
	spread = func(name, why string) {
		if reach[name] != "" || b.Definitions[name] == nil {
			return
		}
		reach[name] = why
		load.EachRef(b.Definitions[name], func(ref string) { spread(ref, "part of "+name) })
	}
	for _, name := range slices.Sorted(maps.Keys(b.Definitions)) {
		for _, identifier := range slices.Sorted(maps.Keys(u.names)) {
			if identifier == name || strings.HasPrefix(identifier, name) && owner(b, identifier) == name {
				reach[name] = where(u.names[identifier])
			}
		}
	}
	direct := maps.Clone(reach)
	for _, name := range slices.Sorted(maps.Keys(direct)) {
		load.EachRef(b.Definitions[name], func(ref string) { spread(ref, "part of "+name) })
	}
	for envelope, direction := range envelopes {
		eachMethod(b.Definitions[envelope], func(wire string, params *load.Schema) {
			if params == nil || u.method(direction, wire) == "" {
				return
			}
			load.EachRef(params, func(ref string) {
				spread(ref, "params of "+wire)
				spread(strings.TrimSuffix(ref, "Params")+"Response", "result of "+wire)
			})
		})
	}
	return reach
}

// owner is the definition whose arm or value an identifier is: the one with the
// longest name that the identifier starts with.
func owner(b *load.Bundle, identifier string) string {
	best := ""
	for name := range b.Definitions {
		if strings.HasPrefix(identifier, name) && len(name) > len(best) {
			best = name
		}
	}
	return best
}

// of says how the code depends on what changed.
func (u *Uses) of(c *Change, reach map[string]string) string {
	why := reach[c.definition]
	if why == "" {
		return ""
	}
	if dot := strings.LastIndexByte(c.Name, '.'); dot >= 0 {
		if files := u.fields[model.GoName(c.Name[dot+1:])]; len(files) > 0 {
			return why + "; field named in " + where(files)
		}
	}
	return why
}

func where(files []string) string {
	const most = 3
	if len(files) > most {
		return fmt.Sprintf("%s and %d more files", strings.Join(files[:most], ", "), len(files)-most)
	}
	return strings.Join(files, ", ")
}
