package lifecycle

import (
	"hash/maphash"
	"strings"
	"testing"
)

// starts are the states an exploration begins from, each reached by events.
var starts = []struct {
	name string
	load Load
	path []string
}{
	{"idle without a goal", Loaded, nil},
	{"idle with a paused goal", Loaded, []string{"goal update old paused"}},
	{"idle with a complete goal", Loaded, []string{"goal update old complete"}},
	{"goal being started", Loaded, []string{"set"}},
	{"goal between turns", Loaded, []string{"set", "look[1] none", "set[1] active"}},
	{"goal in a turn", Loaded, []string{"set", "look[1] none", "set[1] active", "turn started"}},
	{"replacement pending in a turn", Loaded, []string{"set", "look[1] none", "set[1] active", "turn started", "set"}},
	{"goal complete, turn ending", Loaded, []string{"set", "look[1] none", "set[1] active", "turn started", "goal update old complete"}},
	{"prompt running", Loaded, []string{"prompt", "look[1] none", "turn-start[1] accepted", "turn started"}},
	{"stop under way", Loaded, []string{"set", "look[1] none", "set[1] active", "turn started", "stop"}},
	{"stored only, paused", LoadNone, []string{"goal update old paused"}},
	{"stored only, active", LoadNone, []string{"goal update old active"}},
	{"goal begun on a stored thread", LoadNone, []string{"set", "look[1] none"}},
	{"goal begun on a stored thread whose goal is active", LoadNone, []string{"set", "look[1] another", "park[1] paused"}},
	{"stop with a change pending", Loaded, []string{"set", "look[1] none", "set[1] active", "turn started", "set", "stop"}},
}

// startAt reaches a starting state, from which callers submit more.
func startAt(t *testing.T, load Load, path []string, left int) world {
	t.Helper()
	w := newWorld(load, len(path))
	for _, name := range path {
		w = follow(t, Step, w, name)
	}
	w.state.GoalKnown = true // as after the driver's first read
	w.left = left
	return w
}

// follow plays the move of that name.
func follow(t *testing.T, step stepper, w world, name string) world {
	t.Helper()
	for _, m := range w.moves() {
		if m.name == name {
			next, err := w.play(step, m)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return next
		}
	}
	t.Fatalf("%q cannot happen here", name)
	return w
}

// result is what an exploration saw.
type result struct {
	states, transitions int
	broken              error
	trace               []string // a shortest way to the broken promise
}

type node struct {
	world world
	from  *node
	move  string
}

// explore takes every move from every distinct state that can be reached from a
// start within the depth, breadth first, until a promise is broken.
func explore(step stepper, from []*node, depth int) result {
	seed := maphash.MakeSeed()
	seen := map[uint64]struct{}{}
	fresh := func(w *world) bool {
		h := maphash.String(seed, w.key())
		_, old := seen[h]
		seen[h] = struct{}{}
		return !old
	}
	for _, n := range from {
		fresh(&n.world)
	}
	r := result{}
	for left := depth; left > 0 && len(from) > 0; left-- {
		var next []*node
		for _, n := range from {
			for _, m := range n.world.moves() {
				r.transitions++
				w, err := n.world.play(step, m)
				if err != nil {
					r.broken, r.trace = err, append(n.trace(), m.name)
					return r
				}
				if (!w.gone || w.stopLost) && fresh(&w) && left > 1 {
					next = append(next, &node{world: w, from: n, move: m.name})
				}
			}
		}
		from = next
	}
	r.states = len(seen)
	return r
}

// trace lists the moves from the start, whose name comes first.
func (n *node) trace() []string {
	if n.from == nil {
		return []string{n.move + ":"}
	}
	return append(n.from.trace(), n.move)
}

func allStarts(t *testing.T, left int) []*node {
	var nodes []*node
	for _, s := range starts {
		nodes = append(nodes, &node{world: startAt(t, s.load, s.path, left), move: s.name})
	}
	return nodes
}

// Every order of replies, notifications, turns, timers, stops, losses and further
// submissions, from every starting state.
func TestNoInterleavingBreaksAPromise(t *testing.T) {
	r := explore(Step, allStarts(t, *submissions), *depth)
	if r.broken != nil {
		t.Fatalf("%v after\n  %s", r.broken, strings.Join(r.trace, "\n  "))
	}
	t.Logf("ROW | every interleaving to depth %d, from %d starting states | %d | %d distinct states, no promise broken |",
		*depth, len(starts), r.transitions, r.states)
}
