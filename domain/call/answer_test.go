package call_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/call"
)

func TestStatusAt(t *testing.T) {
	limits := call.Limits{Life: time.Hour, Deadline: 24 * time.Hour}
	const day = 24 * 60
	open := begin("a@1")
	ended, _ := open.Complete(done("a@1", 1, call.OK, 10))
	failed, _ := open.Complete(done("a@1", 1, call.Failed, 10))
	late, _ := begin("a@1", "b@1").Complete(done("a@1", 1, call.OK, 10))
	tooLate, _ := open.Complete(done("a@1", 1, call.OK, day+10))
	retried, _ := open.Complete(done("a@1", 2, call.OK, day+10))
	tests := []struct {
		name   string
		given  call.State
		when   time.Time
		then   call.Status
		living bool
	}{
		{"a result without listeners lives from its reception", begin(), noon, call.OK, true},
		{"and lives for its life", begin(), after(60).Add(-1), call.OK, true},
		{"and is gone then", begin(), after(60), call.OK, false},
		{"an open call is processing", open, after(1), call.Processing, true},
		{"an open call is processing until its deadline", open, after(day).Add(-1), call.Processing, true},
		{"an open call fails at its deadline", open, after(day), call.Failed, true},
		{"a call with one of two completions fails at its deadline", late, after(day), call.Failed, true},
		{"the failure lives for its life", open, after(day + 60).Add(-1), call.Failed, true},
		{"the failure is gone then", open, after(day + 60), call.Failed, false},
		{"a result lives from its completion", ended, after(70).Add(-1), call.OK, true},
		{"a result is gone when its life is over", ended, after(70), call.OK, false},
		{"a failed result lives as long", failed, after(70).Add(-1), call.Failed, true},
		{"a failed result is gone as well", failed, after(70), call.Failed, false},
		{"a first attempt that ends after the deadline does not undo the error", tooLate, after(day + 20), call.Failed, true},
		{"and does not lengthen its life", tooLate, after(day + 60), call.Failed, false},
		{"a further attempt does", retried, after(day + 20), call.OK, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, living := tt.given.StatusAt(tt.when, limits)
			if status != tt.then || living != tt.living {
				t.Errorf("%s, living %v; want %s, living %v", status, living, tt.then, tt.living)
			}
		})
	}
}

func TestPipelineName(t *testing.T) {
	for listener, want := range map[string]string{"orders@7": "orders", "orders": "orders", "": ""} {
		if got := call.PipelineName(listener); got != want {
			t.Errorf("name of %q = %q, want %q", listener, got, want)
		}
	}
}

func TestResultJSON(t *testing.T) {
	const traceID = "6789ab:abcdefghij"
	const ids = `"correlationId":"` + correlationID + `","traceId":"` + traceID + `"}`
	base := call.Result{CorrelationID: correlationID, TraceID: traceID}
	with := func(status call.Status, value string, redirect bool) call.Result {
		r := base
		r.Status, r.Value, r.PollingRedirectEnabled = status, []byte(value), redirect
		return r
	}
	tests := []struct {
		name  string
		given call.Result
		then  string
	}{
		{"a processing call has no value", with(call.Processing, "", false), `{"statusCode":200,"status":"processing","value":null,"pollingRedirectEnabled":false,` + ids},
		{"a call that nobody listens to has the trace information", with(call.OK, string(call.TraceInformation(traceID)), true), `{"statusCode":200,"status":"ok","value":{"status":"OK","traceId":"` + traceID + `"},"pollingRedirectEnabled":true,` + ids},
		{"a failed call has a problem", with(call.Failed, string(call.Problem(traceID)), false), `{"statusCode":500,"status":"error","value":{"type":"urn:hooklog:problem:internal","title":"The call failed","status":500,"traceId":"` + traceID + `"},"pollingRedirectEnabled":false,` + ids},
		{"a value keeps its bytes", with(call.OK, `{"html":"<b>","n":1.0e2, "big":12345678901234567890}`, false), `{"statusCode":200,"status":"ok","value":{"html":"<b>","n":1.0e2, "big":12345678901234567890},"pollingRedirectEnabled":false,` + ids},
		{"a value may be null", with(call.OK, `null`, false), `{"statusCode":200,"status":"ok","value":null,"pollingRedirectEnabled":false,` + ids},
	}
	fields := []string{"correlationId", "pollingRedirectEnabled", "status", "statusCode", "traceId", "value"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.given.AppendJSON([]byte("before "))
			text, appended := strings.CutPrefix(string(got), "before ")
			if !appended {
				t.Fatalf("what was there is gone: %s", got)
			}
			if diff := cmp.Diff(tt.then, text); diff != "" {
				t.Errorf("result differs (-want +got):\n%s", diff)
			}
			var read map[string]json.RawMessage
			if err := json.Unmarshal([]byte(text), &read); err != nil {
				t.Fatalf("the result is no JSON: %v", err)
			}
			if diff := cmp.Diff(fields, slices.Sorted(maps.Keys(read))); diff != "" {
				t.Errorf("fields differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTraceIDs(t *testing.T) {
	form := regexp.MustCompile(`^6789ab:[a-z2-7]{10}$`)
	seen := map[byte]bool{}
	for b := range 256 {
		var random [call.RandomIDLength]byte
		for i := range random {
			random[i] = byte(b)
		}
		id := call.NewTraceID("6789ab", random)
		if !form.MatchString(id) {
			t.Fatalf("trace id %q has another form", id)
		}
		seen[id[len(id)-1]] = true
	}
	if len(seen) != 32 {
		t.Errorf("random bytes give %d different characters, want all 32", len(seen))
	}
	t.Run("each byte gives its own character", func(t *testing.T) {
		got := call.NewTraceID("6789ab", [10]byte{0, 1, 2, 25, 26, 31, 32, 63, 128, 255})
		if want := "6789ab:abcz27a7a7"; got != want {
			t.Errorf("trace id = %q, want %q", got, want)
		}
	})
}
