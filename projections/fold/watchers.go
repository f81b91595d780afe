package fold

import "sync"

// Watchers are those who wait for a change of what has a name: a call, a key. The
// zero value has none.
type Watchers struct {
	mu     sync.Mutex
	byName map[string]*watch
}

// watch is the interest in one name; everybody shares the channel.
type watch struct {
	changed chan struct{}
	users   int
}

// Watch gives a channel that is closed at the next change. stop must be called in
// any case.
func (w *Watchers) Watch(name string) (changed <-chan struct{}, stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	own := w.byName[name]
	if own == nil {
		if w.byName == nil {
			w.byName = make(map[string]*watch)
		}
		own = &watch{changed: make(chan struct{})}
		w.byName[name] = own
	}
	own.users++
	return own.changed, func() { w.leave(name, own) }
}

func (w *Watchers) leave(name string, own *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if own.users--; own.users == 0 && w.byName[name] == own {
		delete(w.byName, name)
	}
}

// Wake tells those who watch any of the names.
func (w *Watchers) Wake(names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.byName) == 0 {
		return
	}
	for _, name := range names {
		if own := w.byName[name]; own != nil {
			close(own.changed)
			delete(w.byName, name)
		}
	}
}

// Watched is how many names somebody watches.
func (w *Watchers) Watched() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.byName)
}
