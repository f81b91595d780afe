package results_test

import (
	"fmt"
	"testing"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/results"
)

// partitions is how many the tests' svc.call has.
const partitions = 3

var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// instance is a view of results that folds a log.
type instance struct {
	*results.Results
	t      testing.TB
	log    *projectiontest.Log
	runner *fold.Runner
}

func start(t testing.TB) *instance {
	t.Helper()
	s := projectiontest.OpenStore(t)
	r := results.New(s)
	log := projectiontest.NewLog(record.TopicCall, partitions)
	return &instance{Results: r, t: t, log: log, runner: projectiontest.Start(t, projection(r), s, log)}
}

// projection is the view alone over its topic.
func projection(r *results.Results) fold.Projection {
	return fold.Decoding("results", record.TopicCall, call.Decode, r)
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

// call finds a call that must be known.
func (i *instance) call(id string) call.State {
	i.t.Helper()
	s, known, err := i.Call(id)
	if err != nil || !known {
		i.t.Fatalf("call %s: known %v, %v", id, known, err)
	}
	return s
}

// id is the correlation id of the n-th call of the tests.
func id(n int) string { return fmt.Sprintf("c0ffee00-1234-4abc-8def-%012d", n) }

func accepted(n int, listeners ...string) record.Record {
	a := call.Accepted{
		CorrelationID: id(n), TraceID: fmt.Sprintf("abc123:%010d", n), EventKey: "webhook.a", Last6: "abc123",
		Received: monday, Method: "POST", Size: 2, Listeners: listeners,
		Event: call.Event{Topic: "svc.event.webhook.a", Offset: int64(n), SHA256: "00"},
	}
	return must(a.Encode(call.Partition(id(n), partitions)))
}

func completed(n int, listener string, attempt int, status call.Status) record.Record {
	c := call.Completed{
		CorrelationID: id(n), Listener: listener, Attempt: attempt, Status: status,
		Value: "sealed", Finished: monday.Add(time.Duration(attempt) * time.Minute),
	}
	return must(c.Encode(call.Partition(id(n), partitions)))
}

func retried(n int, listener string, attempt int) record.Record {
	r := call.Retried{CorrelationID: id(n), Listener: listener, Attempt: attempt, By: "ann", CommandID: "c", Time: monday.Add(time.Hour)}
	return must(r.Encode(call.Partition(id(n), partitions)))
}

func must(r record.Record, err error) record.Record {
	if err != nil {
		panic(err)
	}
	return r
}
