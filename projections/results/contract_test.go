package results_test

import (
	"testing"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/results"
	"hooklog/projections/store"
)

func TestTheResultsAreAProjection(t *testing.T) {
	other := accepted(2, "other@1")
	other.Time = monday.AddDate(0, 0, 1)
	projectiontest.Run(t, projectiontest.Contract{
		New: func(s *store.Store) (fold.Projection, error) { return projection(results.New(s)), nil },
		History: []record.Record{
			accepted(1),
			accepted(2, "a@1", "b@3"),
			accepted(2, "a@1", "b@3"), // repeated
			other,                     // contradicts
			completed(2, "a@1", 1, call.OK),
			completed(2, "a@1", 1, call.Failed), // contradicts
			accepted(3, "a@1"),
			accepted(4, "a@1"),
			completed(3, "a@1", 1, call.Failed),
			completed(3, "a@1", 2, call.OK),
			completed(3, "a@1", 1, call.Failed), // repeated, and late
			completed(4, "nobody@1", 1, call.OK),
			retried(4, "a@1", 2), // of a run that goes on
			completed(4, "a@1", 1, call.Failed),
			retried(4, "a@1", 2),
			retried(4, "a@1", 2), // repeated
			completed(4, "a@1", 2, call.OK),
			retried(9, "a@1", 2),            // of a call that was never accepted
			completed(9, "a@1", 1, call.OK), // of a call that was never accepted
			completed(2, "b@3", 1, call.OK),
			accepted(5),
			accepted(6, "a@1"),
		},
	})
}
