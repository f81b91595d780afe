// Package runs is the view of svc.call behind the listing of runs: every attempt
// of the pipelines that listened to a call. It opens nothing that is sealed; what
// polls are answered with is results, and where calls are found is traces.
package runs

import (
	"encoding/json"

	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

const name = "runs"

// Runs is the view.
type Runs struct {
	store *store.Store
}

var _ fold.View[any] = (*Runs)(nil)

// New opens the view over what the store has folded so far.
func New(s *store.Store) *Runs { return &Runs{store: s} }

// Schema implements fold.View.
func (*Runs) Schema() int { return 4 }

// Fold implements fold.View.
func (*Runs) Fold(b *fold.Batch, records []fold.Decoded[any]) (func(), error) {
	for i := range records {
		var err error
		if a, ok := records[i].Value.(call.Accepted); ok {
			err = accept(b, a, records[i].Record)
		} else {
			err = change(b, records[i].Value)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// accept looks nothing up: of two accepted records with one id the first counts,
// and what a second one leaves in the order of time is found out when it is read.
func accept(b *fold.Batch, a call.Accepted, r *record.Record) error {
	// What a pipeline sent may come once more, when somebody listens: it counts as it
	// came first, so that is kept as well.
	if len(a.Listeners) == 0 && r.Header(record.HeaderDepth) == "" {
		return nil
	}
	history, err := call.History{Accepted: a, Partition: r.Partition, Traceparent: r.TraceContext().String()}.EncodeRow()
	if err != nil {
		return err
	}
	if err := b.Add(callRow(a.CorrelationID), history); err != nil {
		return err
	}
	for _, listener := range a.Listeners {
		if err := b.Set(orderRow(allRuns, a.Received, a.CorrelationID, listener)); err != nil {
			return err
		}
	}
	return nil
}

// change folds what comes behind the accepted record.
func change(b *fold.Batch, decoded any) error {
	switch c := decoded.(type) {
	case call.Completed:
		return update(b, c.CorrelationID, c.Listener, func(h call.History) (call.History, bool) { return h.Complete(c) })
	case call.Retried:
		return update(b, c.CorrelationID, c.Listener, func(h call.History) (call.History, bool) { return h.Retry(c) })
	case call.Rejected: // refused calls have no runs
		return nil
	}
	panic("runs: a record of svc.call that the fold does not know")
}

// update applies a change to the listener's runs of a call.
func update(b *fold.Batch, id, listener string, apply func(call.History) (call.History, bool)) error {
	key := callRow(id)
	value, known, err := b.Get(key)
	if err != nil || !known { // its accepted record has expired
		return err
	}
	var before call.History
	if err := json.Unmarshal(value, &before); err != nil {
		return err
	}
	after, changed := apply(before)
	if !changed {
		return nil
	}
	if value, err = after.EncodeRow(); err != nil {
		return err
	}
	if err := b.Set(key, value); err != nil {
		return err
	}
	failed, was := after.Run(listener).Status == call.Failed, before.Run(listener).Status == call.Failed
	row, stands := orderRow(failedRuns, after.Received, id, listener)
	switch {
	case failed && !was:
		return b.Set(row, stands)
	case was && !failed:
		return b.Delete(row)
	}
	return nil
}

// Run finds all that is on record of a call that pipelines listen to.
func (r *Runs) Run(correlationID string) (call.History, bool, error) {
	var h call.History
	if uuid.Validate(correlationID) != nil {
		return h, false, nil // what is no id belongs to no call
	}
	value, ok, err := r.store.Get(callRow(correlationID))
	if err != nil || !ok {
		return h, false, err
	}
	err = json.Unmarshal(value, &h)
	return h, true, err
}
