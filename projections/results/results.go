// Package results is the view of svc.call that polls are answered from: one row
// a call, by its correlation id. When a result expires is a question of reading,
// not of folding.
package results

import (
	"encoding/json"

	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

const name = "results"

// Results is the view.
type Results struct {
	fold.Watchers // of calls, by correlation id
	store         *store.Store
}

var _ fold.View[any] = (*Results)(nil)

// New opens the view over what the store has folded so far.
func New(s *store.Store) *Results { return &Results{store: s} }

// Schema implements fold.View.
func (*Results) Schema() int { return 1 }

// Fold implements fold.View.
func (r *Results) Fold(b *fold.Batch, records []fold.Decoded[any]) (func(), error) {
	changed := make([]string, 0, len(records))
	for i := range records {
		id, err := apply(b, records[i].Value)
		if err != nil {
			return nil, err
		}
		if id != "" {
			changed = append(changed, id)
		}
	}
	return func() { r.Wake(changed) }, nil
}

// apply folds one record and tells which call it may have changed, if any. Of two
// accepted records with one id the first counts.
func apply(b *fold.Batch, decoded any) (id string, err error) {
	switch c := decoded.(type) {
	case call.Accepted:
		value, err := call.Begin(c).EncodeRow()
		if err != nil {
			return "", err
		}
		// Not looked up before: that would be most of the fold's work.
		return c.CorrelationID, b.Add(row(c.CorrelationID), value)
	case call.Completed:
		return update(b, c.CorrelationID, func(s call.State) (call.State, bool) { return s.Complete(c) })
	case call.Retried:
		return update(b, c.CorrelationID, func(s call.State) (call.State, bool) { return s.Retry(c) })
	case call.Rejected: // refused calls have no result
		return "", nil
	}
	panic("results: a record of svc.call that the fold does not know")
}

// update applies a change to a call and gives its id if it was one.
func update(b *fold.Batch, id string, apply func(call.State) (call.State, bool)) (string, error) {
	key := row(id)
	value, known, err := b.Get(key)
	if err != nil || !known { // its accepted record has expired
		return "", err
	}
	var s call.State
	if err := json.Unmarshal(value, &s); err != nil {
		return "", err
	}
	s, changed := apply(s)
	if !changed {
		return "", nil
	}
	if value, err = s.EncodeRow(); err != nil {
		return "", err
	}
	return id, b.Set(key, value)
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
