package protocol_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/codexctl/codexctl/codex/protocol"
)

// drifted makes instances of a definition as a newer Codex might say them.
func drifted(b *bundle, name string, d drift, n int) []pair {
	list := []pair{
		(&maker{b: b, mode: least, drift: d}).define(name, 0),
		(&maker{b: b, mode: most, drift: d}).define(name, 0),
	}
	m := &maker{b: b, mode: most, drift: d}
	if !d.arms {
		for _, arm := range armsOf(b.definitions[name]) {
			list = append(list, m.arm(b.definitions[name], arm, name, 0))
		}
	}
	m = &maker{b: b, mode: random, drift: d, rnd: rand.New(rand.NewPCG(uint64(len(name)), 3))}
	for range n {
		list = append(list, m.define(name, 0))
	}
	return list
}

func TestWhatANewerCodexAddsIsToleratedAndKeptWhereItCanBe(t *testing.T) {
	t.Parallel()
	b := schema(t)
	for what, d := range map[string]drift{
		"members":          {members: true},
		"strings":          {strings: true},
		"arms":             {arms: true},
		"arms and more":    {arms: true, members: true},
		"strings and more": {strings: true, members: true},
	} {
		tried := 0
		for _, name := range slices.Sorted(maps.Keys(b.definitions)) {
			for _, p := range drifted(b, name, d, randomSamples(t)) {
				tried++
				in := encode(t, p.in)
				for codec, out := range roundTrips(t, name, in) {
					if !equal(parse(t, out), p.want) {
						t.Errorf("new %s in %s by %s\n   in %s\n  out %s\n want %s", what, name, codec, in, out, encode(t, p.want))
					}
				}
				if t.Failed() {
					return
				}
			}
		}
		t.Logf("new %s: %d instances", what, tried)
	}
}

func TestWhatANewerCodexRequiresMayBeMissing(t *testing.T) {
	t.Parallel()
	b := schema(t)
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(b.definitions)) {
		for _, p := range drifted(b, name, drift{gaps: true}, 2*randomSamples(t)) {
			tried++
			roundTrips(t, name, encode(t, p.in))
		}
	}
	t.Logf("%d instances with gaps", tried)
}

func TestNotificationWithoutParamsIsItsZeroValue(t *testing.T) {
	n, err := protocol.DecodeNotification(protocol.NotifyTurnCompleted, nil)
	if completed, ok := n.(*protocol.TurnCompletedNotification); err != nil || !ok || completed.ThreadID != "" {
		t.Errorf("got %#v, %v", n, err)
	}
}

func TestNotificationOfANewerCodexArrivesAsUnknown(t *testing.T) {
	n, err := protocol.DecodeNotification("thread/levitated", []byte(`{"height":[3,null]}`))
	if err != nil {
		t.Fatal(err)
	}
	unknown, ok := n.(*protocol.UnknownNotification)
	if !ok || unknown.Method != "thread/levitated" || string(unknown.Params) != `{"height":[3,null]}` {
		t.Errorf("got %#v", n)
	}
	if n.NotificationMethod() != "thread/levitated" {
		t.Errorf("method %q", n.NotificationMethod())
	}
	if _, ok := protocol.LookupMethod(protocol.DirServerNotification, "thread/levitated"); ok {
		t.Error("the method table knows it")
	}
}
