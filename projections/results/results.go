// Package results is the view of svc.call that polls are answered from: one row
// a call, by its correlation id. When a result expires is a question of reading,
// not of folding.
package results

import (
	"encoding/json"
	"sync"

	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

const name = "results"

// Results is the projection.
type Results struct {
	store *store.Store

	mu       sync.Mutex
	watchers map[string]*watch
}

// watch is the interest in one call; everybody shares the channel.
type watch struct {
	changed chan struct{}
	users   int
}

var _ fold.Projection = (*Results)(nil)

// New opens the projection over what the store has folded so far.
func New(s *store.Store) *Results {
	return &Results{store: s, watchers: make(map[string]*watch)}
}

// Name implements fold.Projection.
func (*Results) Name() string { return name }

// Topic implements fold.Projection.
func (*Results) Topic() string { return record.TopicCall }

// Schema implements fold.Projection.
func (*Results) Schema() int { return 1 }

// Fold implements fold.Projection.
func (r *Results) Fold(b *fold.Batch, records []record.Record) (func(), error) {
	var changed []string
	for i := range records {
		decoded, err := call.Decode(&records[i])
		if err != nil {
			if err := b.Park(records[i].Position, err); err != nil {
				return nil, err
			}
			continue
		}
		ok, err := apply(b, decoded)
		if err != nil {
			return nil, err
		}
		if ok {
			changed = append(changed, string(records[i].Key))
		}
	}
	return func() { r.wake(changed) }, nil
}

// apply folds one record and tells whether it may have changed a call. Of two accepted
// records with one id the first counts.
func apply(b *fold.Batch, decoded any) (bool, error) {
	switch c := decoded.(type) {
	case call.Accepted:
		value, err := call.Begin(c).EncodeRow()
		if err != nil {
			return false, err
		}
		// Not looked up before: that would be most of the fold's work.
		return true, b.Add(row(c.CorrelationID), value)
	case call.Completed:
		return update(b, c.CorrelationID, func(s call.State) (call.State, bool) { return s.Complete(c) })
	case call.Retried:
		return update(b, c.CorrelationID, func(s call.State) (call.State, bool) { return s.Retry(c) })
	case call.Rejected: // refused calls have no result
		return false, nil
	}
	panic("results: a record of svc.call that the fold does not know")
}

// update applies a change to a call and tells whether it was one.
func update(b *fold.Batch, id string, apply func(call.State) (call.State, bool)) (bool, error) {
	key := row(id)
	value, known, err := b.Get(key)
	if err != nil || !known { // its accepted record has expired
		return false, err
	}
	var s call.State
	if err := json.Unmarshal(value, &s); err != nil {
		return false, err
	}
	s, changed := apply(s)
	if !changed {
		return false, nil
	}
	if value, err = s.EncodeRow(); err != nil {
		return false, err
	}
	return true, b.Set(key, value)
}

func row(id string) []byte {
	u := uuid.MustParse(id) // ids were checked before
	return store.Key(name, string(u[:]))
}

// Call finds a call by its correlation id.
func (r *Results) Call(id string) (call.State, bool, error) {
	var s call.State
	u, err := uuid.Parse(id)
	if err != nil {
		return s, false, nil //nolint:nilerr // what is no id belongs to no call
	}
	value, ok, err := r.store.Get(store.Key(name, string(u[:])))
	if err != nil || !ok {
		return s, false, err
	}
	err = json.Unmarshal(value, &s)
	return s, true, err
}

// Watch gives a channel that is closed at the next change of the call. stop must
// be called in any case.
func (r *Results) Watch(id string) (changed <-chan struct{}, stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.watchers[id]
	if w == nil {
		w = &watch{changed: make(chan struct{})}
		r.watchers[id] = w
	}
	w.users++
	return w.changed, func() { r.unwatch(id, w) }
}

func (r *Results) unwatch(id string, w *watch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.users--; w.users == 0 && r.watchers[id] == w {
		delete(r.watchers, id)
	}
}

func (r *Results) wake(ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.watchers) == 0 {
		return
	}
	for _, id := range ids {
		if w := r.watchers[id]; w != nil {
			close(w.changed)
			delete(r.watchers, id)
		}
	}
}
