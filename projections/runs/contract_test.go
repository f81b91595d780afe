package runs_test

import (
	"testing"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/runs"
	"hooklog/projections/store"
)

func TestTheRunsAreAProjection(t *testing.T) {
	other := calling(2, "webhook.other", "other@1")
	other.Received = received(99)
	elsewhere := calling(7, "webhook.a")
	elsewhere.Event.Topic = "svc.event.webhook.b"
	sameTrace := calling(8, "sent")
	sameTrace.TraceID = trace(1)
	counts := call.Rejected{Instance: id(9), From: monday, To: monday, Rest: map[string]int64{"not-found": 1}}
	projectiontest.Run(t, projectiontest.Contract{
		New: func(s *store.Store) (fold.Projection, error) { return projection(runs.New(s)), nil },
		History: []record.Record{
			accepted(1),
			accepted(2, "a@1", "b@3"),
			accepted(2, "a@1", "b@3"), // repeated
			encoded(other),            // contradicts
			completed(2, "a@1", 1, call.OK),
			completed(2, "a@1", 1, call.Failed), // contradicts
			accepted(3, "a@1"),
			retried(3, "a@1", 2), // of a run that goes on
			completed(3, "a@1", 1, call.Failed),
			retried(3, "a@1", 2),
			retried(3, "a@1", 2), // repeated
			completed(3, "a@1", 2, call.OK),
			completed(3, "a@1", 1, call.Failed), // repeated, and late
			completed(3, "nobody@1", 1, call.OK),
			completed(9, "a@1", 1, call.OK), // of a call that was never accepted
			encoded(elsewhere),
			encoded(sameTrace),
			must(counts.Encode(0)),
			completed(2, "b@3", 1, call.OK),
			accepted(5),
			encoded(calling(6, "webhook.b.c", "a@1")),
		},
	})
}
