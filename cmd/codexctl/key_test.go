package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestProjectIsTheGitTopLevelAndNothingThatOnlyLooksLikeIt(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	top := t.TempDir()
	deep := filepath.Join(top, "a", "b")
	must(os.MkdirAll(deep, 0o700))
	must(os.Mkdir(filepath.Join(top, "a", ".git"), 0o700)) // empty
	if got := gitTop(deep); got != deep {
		t.Errorf("without a repository: got %s", got)
	}
	must(os.MkdirAll(filepath.Join(top, ".git"), 0o700))
	must(os.WriteFile(filepath.Join(top, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	if got := gitTop(deep); got != top {
		t.Errorf("in a repository: got %s", got)
	}
	must(os.WriteFile(filepath.Join(deep, ".git"), []byte("gitdir: ../../.git/worktrees/b\n"), 0o600))
	if got := gitTop(deep); got != deep {
		t.Errorf("in a linked work tree: got %s", got)
	}
}
