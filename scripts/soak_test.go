package scripts_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// soak runs scripts/soak and returns its standard output.
func soak(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "./soak", arguments...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return out.String(), err
}

func TestSoakTellsWhatItsStateHolds(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	var lines strings.Builder
	for _, ms := range []string{"10.000", "9.000", "-2.500", "1.000", "100.000"} {
		lines.WriteString("replacement\tbehind a turn's end\tcomplete\t" + ms + "\n")
	}
	lines.WriteString("replacement\tbehind a turn's end\tstopped\t4.000\n")
	for _, told := range []string{"delivered", "undetermined", "delivered"} {
		lines.WriteString("kill\tour process, written\t" + told + "\n")
	}
	lines.WriteString("kill\tthe app-server, 0s after the write\tacknowledged\n")
	if err := os.WriteFile(state, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := soak(t, "--table", "--state", state)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| behind a turn's end | complete | 5 | 1 | 4 | -2.5 | 9.0 | 10.0 | 100.0 |\n",
		"| behind a turn's end | stopped | 1 | 0 | 1 | 4.0 | 4.0 | 4.0 | 4.0 |\n",
		"| kill -9 of | n | acknowledged | delivered | undetermined |\n",
		"| our process, written | 3 | 0 | 2 | 1 |\n",
		"| the app-server, 0s after the write | 1 | 1 | 0 | 0 |\n",
		"\n6 live replacements, 4 kills: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func TestSoakTakesNoArgumentItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{{"--ful"}, {"--state"}, {"--full", "--kills", "0"}, {"--full", "--replacements", "many"}} {
		out, err := soak(t, arguments...)
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 || out != "" {
			t.Errorf("%q: %v, %q", arguments, err, out)
		}
	}
}
