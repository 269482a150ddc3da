package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// hostile workers|socketdir MODE STATE, link|unlink|damage|repair|tear STATE: do
// to a state directory what nobody should.
func cmdHostile(ts *testscript.TestScript, _ bool, args []string) {
	state := args[len(args)-1]
	dirs, err := filepath.Glob(filepath.Join(state, "workers", "*"))
	ts.Check(err)
	if len(dirs) != 1 {
		ts.Fatalf("%d identities in %s", len(dirs), state)
	}
	journal := filepath.Join(dirs[0], "journal")
	switch args[0] {
	case "workers", "socketdir":
		mode, err := strconv.ParseUint(args[1], 8, 32)
		ts.Check(err)
		dir := dirs[0]
		if args[0] == "socketdir" {
			dir = filepath.Join(state, "run")
		}
		ts.Check(os.Chmod(dir, os.FileMode(mode)))
	case "link":
		ts.Check(os.Rename(journal, journal+".real"))
		ts.Check(os.Symlink(journal+".real", journal))
	case "unlink":
		ts.Check(os.Rename(journal+".real", journal))
	case "damage":
		b, err := os.ReadFile(journal)
		ts.Check(err)
		ts.Check(os.WriteFile(journal+".real", b, 0o600))
		at := bytes.IndexByte(b, '{')
		b[at+1] ^= 1
		ts.Check(os.WriteFile(journal, b, 0o600))
	case "repair":
		ts.Check(os.Rename(journal+".real", journal))
	case "tear":
		f, err := os.OpenFile(journal, os.O_WRONLY|os.O_APPEND, 0)
		ts.Check(err)
		_, err = f.WriteString(`000000aa 12345678 {"seq":99,"ki`)
		ts.Check(err)
		ts.Check(f.Close())
	default:
		ts.Fatalf("hostile cannot %s", args[0])
	}
}
