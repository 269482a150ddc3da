package lifecycle

import "flag"

// depth is how many events an exploration takes from each starting state. The
// exploration uses one goroutine, so the race detector has nothing to find in it
// and only makes it slower: under it the last two steps are left out.
var depth = flag.Int("depth", defaultDepth, "how many events to explore from each starting state")
