package lifecycle

import "flag"

// How far an exploration goes. It uses one goroutine, so the race detector has
// nothing to find in it and only makes it slower: under it the last steps are left
// out.
var (
	depth       = flag.Int("depth", defaultDepth, "how many events to explore from each starting state")
	submissions = flag.Int("submissions", 1, "how many further submissions there are among them")
)
