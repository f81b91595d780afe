// Package sessions is the view of svc.session: the families of refresh tokens,
// and what each wish about them came to. It decides nothing: that is
// domain/session, over the rows of this package. That a family has expired is a
// question of reading, not of folding, so no row goes away with time.
package sessions

import (
	"encoding/json"
	"sync"

	"hooklog/domain/record"
	"hooklog/domain/session"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

// Sessions is the projection.
type Sessions struct {
	store *store.Store

	mu      sync.Mutex
	waiters map[string]chan session.Decided
}

var _ fold.Projection = (*Sessions)(nil)

// New opens the projection over what the store has folded so far.
func New(s *store.Store) *Sessions {
	return &Sessions{store: s, waiters: make(map[string]chan session.Decided)}
}

// Name implements fold.Projection.
func (*Sessions) Name() string { return name }

// Topic implements fold.Projection.
func (*Sessions) Topic() string { return record.TopicSession }

// Schema implements fold.Projection.
func (*Sessions) Schema() int { return 1 }

type decided struct {
	wishID string
	session.Decided
}

// Fold implements fold.Projection.
func (s *Sessions) Fold(b *fold.Batch, records []record.Record) (func(), error) {
	state := &rows{batch: b.Batch}
	outcomes := make([]decided, 0, len(records))
	for i := range records {
		w, err := session.DecodeWish(&records[i])
		if err != nil {
			if err := b.Park(records[i].Position, err); err != nil {
				return nil, err
			}
			continue
		}
		outcomes = append(outcomes, decided{w.ID, session.Fold(state, w)})
	}
	return func() { s.wake(outcomes) }, state.err
}

// Family finds a family by the hash of its id.
func (s *Sessions) Family(id session.Hash) (f session.Family, known bool, err error) {
	value, known, err := s.store.Get(familyRow(id))
	if err != nil || !known {
		return f, false, err
	}
	err = json.Unmarshal(value, &f)
	return f, true, err
}

// Await gives a channel that gets what the wish came to once it is folded. Only
// the maker of a wish waits for it, and asks before it is appended; stop ends
// the waiting.
func (s *Sessions) Await(wishID string) (outcome <-chan session.Decided, stop func()) {
	ch := make(chan session.Decided, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiters[wishID] = ch
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiters, wishID)
	}
}

func (s *Sessions) wake(outcomes []decided) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range outcomes {
		if ch, waiting := s.waiters[d.wishID]; waiting {
			ch <- d.Decided // never blocks: it gets one, and is then forgotten
			delete(s.waiters, d.wishID)
		}
	}
}
