package runs_test

import (
	"fmt"
	"testing"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/runs"
	"hooklog/projections/store"
)

// partitions is how many the tests' svc.call has.
const partitions = 3

var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// instance is a view of runs that folds a log.
type instance struct {
	*runs.Runs
	t      testing.TB
	store  *store.Store
	log    *projectiontest.Log
	runner *fold.Runner
}

func start(t testing.TB) *instance {
	t.Helper()
	s := projectiontest.OpenStore(t)
	r := runs.New(s)
	log := projectiontest.NewLog(record.TopicCall, partitions)
	return &instance{Runs: r, t: t, store: s, log: log, runner: projectiontest.Start(t, projection(r), s, log)}
}

// projection is the view alone over its topic.
func projection(r *runs.Runs) fold.Projection {
	return fold.Decoding("runs", record.TopicCall, call.Decode, r)
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

// id is the correlation id of the n-th call of the tests.
func id(n int) string { return fmt.Sprintf("c0ffee00-1234-4abc-8def-%012d", n) }

func trace(n int) string { return fmt.Sprintf("abc123:%010d", n) }

// received is when the n-th call came: a minute after the one before.
func received(n int) time.Time { return monday.Add(time.Duration(n) * time.Minute) }

// calling is the n-th call, to a key.
func calling(n int, eventKey string, listeners ...string) call.Accepted {
	return call.Accepted{
		CorrelationID: id(n), TraceID: trace(n), EventKey: eventKey, Last6: "abc123",
		Received: received(n), Method: "POST", Size: 2, Listeners: listeners,
		Event: call.EventAt(record.Position{Topic: record.EventTopic(eventKey), Partition: 1, Offset: int64(n)}, record.Digest{byte(n)}),
	}
}

func encoded(a call.Accepted) record.Record {
	return must(a.Encode(call.Partition(a.CorrelationID, partitions)))
}

func accepted(n int, listeners ...string) record.Record {
	return encoded(calling(n, "webhook.a", listeners...))
}

func ended(n int, listener string, attempt int, status call.Status) call.Completed {
	return call.Completed{
		CorrelationID: id(n), Listener: listener, Attempt: attempt, Status: status, Detail: "sealed detail",
		Principal: "anonymousUser", Effective: "stock", Owner: "ann",
		Started: received(n), Finished: received(n).Add(time.Duration(attempt) * time.Second),
	}
}

func completed(n int, listener string, attempt int, status call.Status) record.Record {
	c := ended(n, listener, attempt, status)
	c.Value = "sealed value"
	return must(c.Encode(call.Partition(id(n), partitions)))
}

func retried(n int, listener string, attempt int) record.Record {
	r := call.Retried{CorrelationID: id(n), Listener: listener, Attempt: attempt, By: "ann", CommandID: "c", Time: received(n).Add(time.Hour)}
	return must(r.Encode(call.Partition(id(n), partitions)))
}

func must(r record.Record, err error) record.Record {
	if err != nil {
		panic(err)
	}
	return r
}
