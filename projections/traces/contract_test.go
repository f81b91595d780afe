package traces_test

import (
	"testing"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/store"
	"hooklog/projections/traces"
)

func TestTheTracesAreAProjection(t *testing.T) {
	elsewhere := calling(7, "webhook.a")
	elsewhere.Event.Topic = "svc.event.webhook.b"
	sameTrace := calling(8, "sent")
	sameTrace.TraceID = trace(1)
	other := calling(2, "webhook.other")
	other.Received = received(perDay)
	counts := call.Rejected{Instance: id(9), From: monday, To: monday, Rest: map[string]int64{"not-found": 1}}
	projectiontest.Run(t, projectiontest.Contract{
		New: func(s *store.Store) (fold.Projection, error) {
			v, err := traces.New(s, 48*time.Hour, clock)
			return projection(v), err
		},
		History: []record.Record{
			accepted(1),
			accepted(2, "a@1"),
			accepted(2, "a@1"), // repeated
			encoded(other),     // contradicts, on another day
			completed(2, "a@1"),
			encoded(elsewhere),
			encoded(sameTrace),
			must(counts.Encode(0)),
			accepted(2 * perDay),
			accepted(5 * perDay), // drops all before
			accepted(3),          // late, and dropped at once
			accepted(4 * perDay),
			encoded(calling(6*perDay, "webhook.b.c", "a@1")),
		},
	})
}
