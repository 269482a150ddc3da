package outer

import (
	"slices"
	"testing"
)

func TestMarksAreDroppedAndNothingElse(t *testing.T) {
	kept := []string{
		"PATH=/bin", "CODEX_HOME=/h", "CODEX_BIN=/b", "CODEX_ACCESS_TOKEN=t", "CODEX_API_KEY=k", "CODEX_SQLITE_HOME=/s",
		"OPENAI_API_KEY=k", "MY_CODEX_THREAD_ID=x", "CODEX_THREAD_IDS=x", "X=CODEX_THREAD_ID=1", "CODEXCTL_STATE=/c", "",
	}
	env := append([]string{
		"CODEX_THREAD_ID=1", "CODEX_SANDBOX=seatbelt", "CODEX_SANDBOX_NETWORK_DISABLED=1", "CODEX_NETWORK_PROXY_ACTIVE=1",
		"CODEX_INTERNAL_ORIGINATOR_OVERRIDE=x", "CODEX_INTERNAL_APP_SERVER_REMOTE_CONTROL_DISABLED=1", "CODEX_MANAGED_BY_NPM=1",
	}, kept...)
	before := slices.Clone(env)
	if got := Environ(env); !slices.Equal(got, kept) {
		t.Errorf("left is %q", got)
	}
	if !slices.Equal(env, before) {
		t.Error("the list it was given was changed")
	}
	if got := Environ(nil); len(got) != 0 {
		t.Errorf("of nothing it made %q", got)
	}
}
