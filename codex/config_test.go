package codex_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/codexctl/codexctl/codex"
	"github.com/codexctl/codexctl/codex/codextest"
)

func TestRealServerOnABrokenConfigurationIsTold(t *testing.T) {
	codextest.Binary(t)
	home := codextest.TempHome(t, codextest.StartModel(t, silentModel), codextest.HomeOptions{})
	file := filepath.Join(home.Path, "config.toml")
	for name, row := range map[string]struct {
		text   string
		broken bool
	}{
		"sound": {"", false}, "not TOML": {"model = [\n", true}, "wrong type": {"model = 7\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			sound, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if row.broken {
				defer os.WriteFile(file, sound, 0o600)
				if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c, err := codex.Start(t.Context(), codex.Options{Env: home.Env(), Dir: home.Work})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			err = codex.CheckConfig(t.Context(), c)
			var broken *codex.ConfigError
			if errors.As(err, &broken) != row.broken {
				t.Fatalf("%v; it said %+v", err, c.ConfigWarnings())
			}
			if row.broken && (!strings.Contains(broken.Details, file) || !strings.Contains(err.Error(), broken.Details)) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestConfigWarningIsKeptAndStillAnEvent(t *testing.T) {
	peer := codextest.NewPeer(codextest.On(trigger).Flood(100, "configWarning", map[string]any{"summary": "{{n}}"}).Answer(map[string]any{"data": []string{}}))
	c := start(t, peer, codex.Options{})
	s := c.Subscribe(codex.SubscribeOptions{})
	if err := codex.CheckConfig(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	kept := c.ConfigWarnings()
	if len(kept) != 64 || kept[0].Summary != "0" || kept[63].Summary != "63" {
		t.Errorf("%d are kept", len(kept))
	}
	if e := next(t, s); e.Method != "configWarning" || e.Notification == nil {
		t.Errorf("%+v", e)
	}
}
