package traces_test

import (
	"fmt"
	"testing"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/store"
	"hooklog/projections/traces"
)

const (
	// partitions is how many the tests' svc.call has.
	partitions = 3
	// perDay is how many calls come on a day: one a minute.
	perDay = 24 * 60
)

var (
	monday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	// today is behind all calls of the tests.
	today = monday.Add(5000 * 24 * time.Hour)
)

func clock() time.Time { return today }

// instance is a view of traces that folds a log.
type instance struct {
	*traces.Traces
	t      testing.TB
	store  *store.Store
	log    *projectiontest.Log
	runner *fold.Runner
}

// start opens a view that keeps calls for ever, or for the retention.
func start(t testing.TB, retention ...time.Duration) *instance {
	t.Helper()
	s := projectiontest.OpenStore(t)
	var kept time.Duration
	if len(retention) > 0 {
		kept = retention[0]
	}
	v := open(t, s, kept)
	log := projectiontest.NewLog(record.TopicCall, partitions)
	return &instance{Traces: v, t: t, store: s, log: log, runner: projectiontest.Start(t, projection(v), s, log)}
}

func open(t testing.TB, s *store.Store, retention time.Duration) *traces.Traces {
	t.Helper()
	v, err := traces.New(s, retention, clock)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// projection is the view alone over its topic.
func projection(v *traces.Traces) fold.Projection {
	return fold.Decoding("traces", record.TopicCall, call.Decode, v)
}

// fold appends the records and returns when they are folded.
func (i *instance) fold(records ...record.Record) {
	i.t.Helper()
	for _, r := range records {
		if err := i.runner.Wait(i.t.Context(), i.log.Append(r)); err != nil {
			i.t.Fatal(err)
		}
	}
}

func anybody(string) bool { return true }

// id is the correlation id of the n-th call of the tests.
func id(n int) string { return fmt.Sprintf("c0ffee00-1234-4abc-8def-%012d", n) }

func trace(n int) string { return fmt.Sprintf("abc123:%010d", n) }

// received is when the n-th call came: a minute after the one before.
func received(n int) time.Time { return monday.Add(time.Duration(n) * time.Minute) }

// calling is the n-th call, to a key.
func calling(n int, eventKey string, listeners ...string) call.Accepted {
	return call.Accepted{
		CorrelationID: id(n), TraceID: trace(n), EventKey: eventKey, Last6: "abc123",
		Received: received(n), Method: "POST", Size: 2, Address: "192.0.2.7", Listeners: listeners,
		Event: call.EventAt(record.Position{Topic: record.EventTopic(eventKey), Partition: 1, Offset: int64(n)}, record.Digest{byte(n)}),
	}
}

// sent is a call whose event a pipeline sent.
func sent(n int, eventKey string, at time.Time) record.Record {
	a := calling(n, eventKey)
	a.Method, a.Received = call.MethodSent, at
	return encoded(a)
}

// encoded is the accepted record, which was written a second after the call came.
func encoded(a call.Accepted) record.Record {
	r := must(a.Encode(call.Partition(a.CorrelationID, partitions)))
	r.Time = a.Received.Add(time.Second)
	return r
}

func accepted(n int, listeners ...string) record.Record {
	return encoded(calling(n, "webhook.a", listeners...))
}

func completed(n int, listener string) record.Record {
	c := call.Completed{CorrelationID: id(n), Listener: listener, Attempt: 1, Status: call.OK, Finished: received(n)}
	return must(c.Encode(call.Partition(id(n), partitions)))
}

func must(r record.Record, err error) record.Record {
	if err != nil {
		panic(err)
	}
	return r
}
