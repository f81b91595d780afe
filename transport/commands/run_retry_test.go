package commands_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/registry"
)

func retryOf(n int, listener string) call.Retried {
	return call.Retried{CorrelationID: callID(n), Listener: listener, Attempt: 2, By: "ann", CommandID: "before", Time: monday}
}

func TestARetryOpensTheNextAttempt(t *testing.T) {
	w := newRuns(t)
	w.call(1, "orders@7 error", "stock@1 ok")
	got, err := w.run("run.retry", administrator, "correlationId="+callID(1))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"orders@7 2 processing", "orders@7 1 error " + whyItFailed, "stock@1 1 ok"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	command, err := registry.DecodeCommand(&w.appended[0])
	if err != nil || command.Name != "run.retry" || string(command.Params) != `{"correlationId":"`+callID(1)+`","pipelines":["orders"]}` {
		t.Errorf("the first record is %+v, %v", command, err)
	}
	retry := call.Retried{CorrelationID: callID(1), Listener: "orders@7", Attempt: 2, By: "ann", CommandID: command.ID, Time: monday.Add(time.Hour)}
	if diff := cmp.Diff([]call.Retried{retry}, w.retries()); diff != "" {
		t.Errorf("retries (-want +got):\n%s", diff)
	}
	if len(w.waited) != 1 || w.waited[0] != (record.Position{Topic: record.TopicCall, Partition: 2, Offset: 1}) {
		t.Errorf("the answer waited for %v", w.waited)
	}
	t.Run("and the one behind that", func(t *testing.T) {
		w.end(1, "orders@7", 2, call.Failed)
		got, err := w.run("run.retry", administrator, "correlationId="+callID(1), "pipeline=orders")
		if err != nil || got[0] != "orders@7 3 processing" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestRetriesThatAreRefused(t *testing.T) {
	tests := []struct {
		name    string
		roles   []string
		params  []string
		want    fault.Kind
		decided bool // there is a command on the record
	}{
		{"of a run that ended well", administrator, []string{"correlationId=" + callID(2)}, fault.Conflict, true},
		{"of a run that goes on", administrator, []string{"correlationId=" + callID(3)}, fault.Conflict, true},
		{"of the pipeline that did not fail", administrator, []string{"correlationId=" + callID(1), "pipeline=stock"}, fault.Conflict, true},
		{"of a pipeline that did not listen", administrator, []string{"correlationId=" + callID(1), "pipeline=other"}, fault.NotFound, true},
		{"of an unknown call", administrator, []string{"correlationId=" + callID(9)}, fault.NotFound, false},
		{"of a pipeline at an unknown call", administrator, []string{"correlationId=" + callID(9), "pipeline=orders"}, fault.NotFound, true},
		{"of what is no call", administrator, []string{"correlationId=7"}, fault.Invalid, false},
		{"of what is no pipeline", administrator, []string{"correlationId=" + callID(1), "pipeline=A B"}, fault.Invalid, true},
		{"without the right to the pipeline", retriers, []string{"correlationId=" + callID(4)}, fault.Forbidden, true},
		{"without the right to all that failed", retriers, []string{"correlationId=" + callID(5)}, fault.Forbidden, true},
		{"without any right", readers, []string{"correlationId=" + callID(1)}, fault.Forbidden, true},
		{"of an unknown call, without any right", readers, []string{"correlationId=" + callID(9)}, fault.Forbidden, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newRuns(t)
			w.call(1, "orders@7 error", "stock@1 ok")
			w.call(2, "orders@7 ok")
			w.call(3, "orders@7")
			w.call(4, "stock@1 error")
			w.call(5, "orders@7 error", "stock@1 error")
			_, err := w.run("run.retry", tt.roles, tt.params...)
			if !fault.Is(err, tt.want) || (len(w.appended) == 1) != tt.decided || len(w.retries()) != 0 {
				t.Errorf("got %v, %d records, %d retries", err, len(w.appended), len(w.retries()))
			}
		})
	}
}

func TestARetryIsOfWhatTheCallerMayRetry(t *testing.T) {
	w := newRuns(t)
	w.call(1, "orders@7 error", "stock@1 error")
	got, err := w.run("run.retry", retriers, "correlationId="+callID(1), "pipeline=orders")
	if err != nil {
		t.Fatal(err)
	}
	// The caller may not read runs: what happened in them is not shown.
	want := []string{"orders@7 2 processing", "orders@7 1 error"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestARetryLooksAtTheLogBeforeItCallsACallUnknown(t *testing.T) {
	w := newRuns(t)
	w.behind = append(w.behind, w.call(1, "orders@7 error"))
	delete(w.calls, callID(1))
	w.down = errDown
	if _, err := w.run("run.retry", administrator, "correlationId="+callID(1)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("with the log down: %v", err)
	}
	w.down = nil
	if got, err := w.run("run.retry", administrator, "correlationId="+callID(1)); err != nil || got[0] != "orders@7 2 processing" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestARepeatedRetryOpensNoAttemptTwice(t *testing.T) {
	w := newRuns(t)
	w.call(1, "orders@7 error", "stock@1 error")
	req := request(t, "run.retry", administrator, "correlationId="+callID(1))
	req.IdempotencyKey = "once"

	w.room = 1 // the log takes one of the two
	_, err := w.dispatcher().Run(t.Context(), req)
	if f := fault.From(err); f.Kind != fault.Unavailable || !strings.Contains(f.Detail, "Its id is ") || strings.Contains(f.Detail, "broker-7") {
		t.Fatalf("got %v", err)
	}
	w.room = -1
	for range 2 {
		if _, err := w.dispatcher().Run(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if n := len(w.retries()); n != 2 {
			t.Fatalf("%d retries, want one for each listener", n)
		}
	}
	w.end(1, "orders@7", 2, call.Failed)
	w.end(1, "stock@1", 2, call.Failed)
	if _, err := w.dispatcher().Run(t.Context(), req); err != nil || len(w.retries()) != 2 {
		t.Errorf("a repeat after both have failed again: %v, %d retries", err, len(w.retries()))
	}
}

func TestARepeatedRetryIsOfNothingThatTheCallerMayNotRetry(t *testing.T) {
	w := newRuns(t)
	w.call(1, "orders@7 error", "stock@1")
	req := request(t, "run.retry", retriers, "correlationId="+callID(1))
	req.IdempotencyKey = "once"
	if _, err := w.dispatcher().Run(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	w.end(1, "stock@1", 1, call.Failed) // after the command was decided
	if _, err := w.dispatcher().Run(t.Context(), req); !fault.Is(err, fault.Forbidden) || len(w.retries()) != 1 {
		t.Errorf("the repeat: %v, %d retries", err, len(w.retries()))
	}
}
