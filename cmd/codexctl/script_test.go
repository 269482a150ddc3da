package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/codexctl/codexctl/codex/codextest"
)

// Every script runs codexctl as processes of its own, on the real Codex with a
// scripted model.
func TestScripts(t *testing.T) {
	binary := codextest.Binary(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Cmds:                scriptCommands(),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				return err
			}
			t := &troupe{dir: dir, gates: map[string]*codextest.Gate{}, cast: map[string]*actor{}}
			env.Values["troupe"] = t
			env.Setenv("CODEX_BIN", binary)
			env.Setenv("CODEXCTL_STATE", filepath.Join(dir, "state"))
			env.Setenv("CODEX_HOME", filepath.Join(dir, "codex"))
			env.Setenv("HOME", filepath.Join(dir, "user"))
			env.Defer(func() {
				for _, a := range t.cast {
					_ = a.cmd.Process.Kill()
					<-a.done
				}
				if t.model != nil {
					_ = t.model.Close()
				}
			})
			return nil
		},
	})
}
