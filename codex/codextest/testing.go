package codextest

import "testing"

// StartModel is [NewModel] for a test. The model is closed when the test ends, and whatever went wrong with its script
// fails the test.
func StartModel(tb testing.TB, script Script) *Model {
	tb.Helper()
	m, err := NewModel(script)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Errorf("the model's script failed: %v", err)
		}
	})
	return m
}

// TempHome is [NewHome] in a directory of the test's own, which is removed when the test ends. A Codex that was started
// in it must be gone by then.
func TempHome(tb testing.TB, m *Model, o HomeOptions) *Home {
	tb.Helper()
	h, err := NewHome(tb.TempDir(), m.URL(), o)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}
