// Package traces is the view of svc.call behind finding calls: by the last six
// characters of a webhook, by trace id, by correlation id, and by event key in the
// order of the log. It keeps all that an accepted record says, for so many days; what
// became of a call is results and runs. It never reads while it folds.
package traces

import (
	"sync"
	"time"

	"hooklog/domain/call"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

const name = "traces"

// Traces is the view.
type Traces struct {
	store *store.Store
	// keep is how many days are kept before the newest one; 0 is all.
	keep day
	now  func() time.Time
	keys fold.Watchers // of event keys

	mu sync.Mutex
	// days are those that have rows, in order. The list is replaced, never changed.
	days []day
}

var _ fold.View[any] = (*Traces)(nil)

// New opens the view over what the store has folded so far. Calls are kept for the
// retention and what is left of its last day; 0 is for ever.
func New(s *store.Store, retention time.Duration, now func() time.Time) (*Traces, error) {
	t := &Traces{store: s, keep: daysOf(retention), now: now}
	var err error
	t.days, err = stored(s)
	return t, err
}

// Schema implements fold.View.
func (*Traces) Schema() int { return 2 }

// Fold implements fold.View.
func (t *Traces) Fold(b *fold.Batch, records []fold.Decoded[any]) (func(), error) {
	days := t.known()
	w := writer{batch: b}
	for i := range records {
		a, ok := records[i].Value.(call.Accepted)
		if !ok {
			continue
		}
		d := dayOf(a.Received)
		if err := w.add(d, &a, records[i].Record); err != nil {
			return nil, err
		}
		days = with(days, d)
	}
	horizon := t.horizon(days)
	if len(days) > 0 && days[0] < horizon {
		if err := b.DeleteRange(below, horizon.prefix()); err != nil {
			return nil, err
		}
		days = from(days, horizon)
	}
	return func() {
		t.publish(days, horizon)
		t.wake(records)
	}, nil
}

// wake tells those who wait for calls of a key.
func (t *Traces) wake(records []fold.Decoded[any]) {
	if t.keys.Watched() == 0 {
		return
	}
	keys := make([]string, 0, len(records))
	for i := range records {
		if a, ok := records[i].Value.(call.Accepted); ok {
			keys = append(keys, a.EventKey)
		}
	}
	t.keys.Wake(keys)
}

// Watch gives a channel that is closed when the next call of the key is found.
// stop must be called in any case.
func (t *Traces) Watch(eventKey string) (changed <-chan struct{}, stop func()) {
	return t.keys.Watch(eventKey)
}
