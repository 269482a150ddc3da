package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

func TestProfileIsHandedOverEntryByEntry(t *testing.T) {
	home := t.TempDir()
	content := `
model = "gpt-5.5"
notify = ["say", "it \"aloud\""]
temperature = 1.0
[features]
goals = true
[model_providers.mine]
base_url = "http://localhost"
request_max_retries = 0
[mcp_servers."a.b"]
command = "x"
`
	if err := os.WriteFile(filepath.Join(home, "work.config.toml"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := profileArgs(home, "work")
	want := []string{
		"-c", "features.goals=true",
		"-c", `mcp_servers={"a.b"={"command"="x"}}`,
		"-c", `model="gpt-5.5"`,
		"-c", `model_providers.mine.base_url="http://localhost"`,
		"-c", "model_providers.mine.request_max_retries=0",
		"-c", `notify=["say","it \"aloud\""]`,
		"-c", "temperature=1.0",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	// Every value is TOML that says the same.
	for i := 1; i < len(got); i += 2 {
		var back map[string]any
		if _, err := toml.Decode(got[i], &back); err != nil {
			t.Errorf("%s: %v", got[i], err)
		}
	}
	for _, name := range []string{"missing", "../work", "a/b", ".hidden"} {
		if _, err := profileArgs(home, name); codeOf(err) != exitUsage {
			t.Errorf("%s: got %v, want a usage error", name, err)
		}
	}
}
