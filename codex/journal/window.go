package journal

// What a [Window] holds at most.
const (
	WindowCount = 1000
	WindowBytes = 256 << 10
)

// Window keeps the newest of what is over and done with: WindowCount entries or
// WindowBytes bytes of them, whichever comes first. The zero value is ready.
type Window[T any] struct {
	entries []sized[T]
	bytes   int
}

type sized[T any] struct {
	entry T
	size  int // in bytes, on disk
}

// Add puts an entry of a size in bytes at the end and gives back those that leave.
// The newest always stays.
func (w *Window[T]) Add(entry T, size int) (left []T) {
	w.entries = append(w.entries, sized[T]{entry, size})
	w.bytes += size
	for len(w.entries) > WindowCount || w.bytes > WindowBytes && len(w.entries) > 1 {
		left = append(left, w.entries[0].entry)
		w.bytes -= w.entries[0].size
		w.entries[0] = sized[T]{} // a slice keeps its whole array
		w.entries = w.entries[1:]
	}
	return left
}

// All are the entries, oldest first.
func (w *Window[T]) All() []T {
	all := make([]T, len(w.entries))
	for i, e := range w.entries {
		all[i] = e.entry
	}
	return all
}
