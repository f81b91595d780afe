package metrics

import (
	"maps"
	"sync"
	"sync/atomic"
)

// names holds a kind of label to its first values. What is made for a name is
// kept, and found again without a lock and without memory.
type names[T any] struct {
	make  func(name string) T
	other T
	// nameless is for what has no name; it counts as none.
	nameless T

	mu    sync.Mutex
	known atomic.Pointer[map[string]T]
}

func newNames[T any](make func(name string) T) *names[T] {
	n := &names[T]{make: make, other: make(Other), nameless: make("")}
	n.known.Store(&map[string]T{})
	return n
}

func (n *names[T]) of(name string) T {
	if name == "" {
		return n.nameless
	}
	known := *n.known.Load()
	if made, ok := known[name]; ok {
		return made
	}
	if len(known) >= MaxNames {
		return n.other
	}
	return n.add(name)
}

// add copies all that is known, which happens once for each name.
func (n *names[T]) add(name string) T {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := *n.known.Load()
	if made, ok := known[name]; ok {
		return made
	}
	if len(known) >= MaxNames {
		return n.other
	}
	more := maps.Clone(known)
	more[name] = n.make(name)
	n.known.Store(&more)
	return more[name]
}
