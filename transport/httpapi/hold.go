package httpapi

import (
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"hooklog/domain/call"
)

// maxHeld is how many polls of one result are held at a time, and how often one
// user waits for the events of one key.
const maxHeld = 2

// holds knows the held polls, so that they can be released before their time.
type holds struct {
	mu      sync.Mutex
	byID    map[string][]chan struct{} // the oldest first
	drained bool
}

// enter holds a poll: released is closed when it has to be answered, because
// newer ones took its place or because the service drains.
func (h *holds) enter(id string) (released <-chan struct{}, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := make(chan struct{})
	if h.drained {
		close(own)
		return own, func() {}
	}
	if h.byID == nil {
		h.byID = make(map[string][]chan struct{})
	}
	held := h.byID[id]
	if len(held) == maxHeld {
		close(held[0])
		held = slices.Delete(held, 0, 1)
	}
	h.byID[id] = append(held, own)
	return own, func() { h.leave(id, own) }
}

func (h *holds) leave(id string, own chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := slices.DeleteFunc(h.byID[id], func(c chan struct{}) bool { return c == own })
	if len(held) == 0 {
		delete(h.byID, id)
		return
	}
	h.byID[id] = held
}

func (h *holds) count() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, held := range h.byID {
		n += len(held)
	}
	return n
}

func (h *holds) drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drained = true
	for _, held := range h.byID {
		for _, released := range held {
			close(released)
		}
	}
	clear(h.byID)
}

// maxPaces is of how many results the pace is remembered. Only known results
// that are not ready get here, so nobody can push others out with made-up ids.
const maxPaces = 100_000

// paces remembers how the results were polled.
type paces struct {
	mu   sync.Mutex
	byID *simplelru.LRU[string, call.Pace]
}

func newPaces() *paces {
	byID, err := simplelru.NewLRU[string, call.Pace](maxPaces, nil)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return &paces{byID: byID}
}

// poll counts a poll and says whether it is in pace.
func (p *paces) poll(id string, now time.Time) (call.Pace, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, _ := p.byID.Get(id)
	after, inPace := before.Poll(now)
	p.byID.Add(id, after)
	return after, inPace
}
