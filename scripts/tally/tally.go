package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action      string
	Package     string
	Test        string
	Elapsed     float64 // seconds
	Output      string
	ImportPath  string // of build events
	FailedBuild string
}

type key struct{ pkg, test string }

// outcome is a test under way, or a package when the test is "".
type outcome struct {
	output []string
	parent bool // has subtests
	failed bool // one of its subtests, or of a package's tests, failed
}

type tally struct {
	out            io.Writer
	tests          map[key]*outcome
	builds         map[string][]string // compiler output by import path
	passed, failed int
}

func (t *tally) add(e event) {
	switch e.Action {
	case "build-output":
		t.builds[e.ImportPath] = append(t.builds[e.ImportPath], e.Output)
	case "run":
		t.at(e.Package, e.Test)
		if parent := t.parent(e); parent != "" {
			t.at(e.Package, parent).parent = true
		}
	case "output":
		o := t.at(e.Package, e.Test)
		o.output = append(o.output, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.endPackage(e)
		} else {
			t.endTest(e)
		}
	}
}

func (t *tally) endTest(e event) {
	o := t.at(e.Package, e.Test)
	bad := e.Action != "pass"
	switch {
	case bad && !o.failed:
		t.failed++
		fmt.Fprintf(t.out, "%s %s %s\n", map[string]string{"fail": "FAIL", "skip": "SKIP"}[e.Action], e.Package, e.Test)
		t.show(o.output)
	case !bad && !o.parent:
		t.passed++
	}
	if bad {
		// Its output has been shown; those above it failed because of it.
		t.at(e.Package, t.parent(e)).failed = true
		t.at(e.Package, "").failed = true
	}
	delete(t.tests, key{e.Package, e.Test})
}

func (t *tally) endPackage(e event) {
	o := t.at(e.Package, "")
	bad := e.Action == "fail"
	switch {
	case bad && !o.failed:
		t.failed++
		fmt.Fprintf(t.out, "FAIL %s\n", e.Package)
		t.show(t.builds[e.FailedBuild])
		t.show(o.output)
		t.showUnfinished(e.Package)
	case bad:
		fmt.Fprintf(t.out, "FAIL %s (%.1f s)\n", e.Package, e.Elapsed)
	case e.Action == "pass":
		fmt.Fprintf(t.out, "ok   %s (%.1f s)\n", e.Package, e.Elapsed)
	}
	delete(t.tests, key{e.Package, ""})
}

// showUnfinished shows the tests that were running when their package died.
func (t *tally) showUnfinished(pkg string) {
	var names []string
	for k := range t.tests {
		if k.pkg == pkg && k.test != "" {
			names = append(names, k.test)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(t.out, "     unfinished: %s\n", name)
		t.show(t.at(pkg, name).output)
		delete(t.tests, key{pkg, name})
	}
}

func (t *tally) show(output []string) {
	for line := range strings.Lines(strings.Join(output, "")) {
		fmt.Fprintf(t.out, "     %s\n", strings.TrimSuffix(line, "\n"))
	}
}

func (t *tally) at(pkg, test string) *outcome {
	k := key{pkg, test}
	if t.tests[k] == nil {
		t.tests[k] = &outcome{}
	}
	return t.tests[k]
}

// parent is the running test that e's is a subtest of, "" if it is none. A subtest's own name may contain slashes.
func (t *tally) parent(e event) string {
	for name := e.Test; ; {
		i := strings.LastIndex(name, "/")
		if i < 0 {
			return ""
		}
		name = name[:i]
		if t.tests[key{e.Package, name}] != nil {
			return name
		}
	}
}
