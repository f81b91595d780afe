package call_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/call"
)

func history(listeners ...string) call.History {
	a := accepted()
	a.Listeners = listeners
	return call.History{Accepted: a, Partition: 3}
}

func take(h call.History, all ...any) call.History {
	for _, r := range all {
		switch r := r.(type) {
		case call.Completed:
			h, _ = h.Complete(r)
		case call.Retried:
			h, _ = h.Retry(r)
		}
	}
	return h
}

// The list of runs and the polls must not disagree.
func TestAHistoryHasTheStateOfItsRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := records().Draw(t, "records")
		want, _ := foldAll(begin("a@1", "b@1"), all...)
		h := take(history("a@1", "b@1"), all...)
		if diff := cmp.Diff(want, h.State()); diff != "" {
			t.Fatalf("states differ (-of the records +of the history):\n%s", diff)
		}
		for _, l := range h.Listeners {
			latest := h.Run(l)
			runs := h.Runs(l)
			falling := slices.IsSortedFunc(runs, func(a, b call.Run) int { return b.Attempt - a.Attempt })
			if status, _ := onlyOf(want, l).Finished(); status != latest.Status || !falling || !cmp.Equal(latest, runs[0]) {
				t.Fatalf("%s is %s, want %s; all attempts: %+v", l, latest.Status, status, runs)
			}
		}
		row, err := h.EncodeRow()
		if err != nil {
			t.Fatal(err)
		}
		var back call.History
		if err := json.Unmarshal(row, &back); err != nil || !cmp.Equal(h, back) {
			t.Fatalf("stored as %s, %v", row, err)
		}
	})
}

// onlyOf is the state as if nobody else had listened.
func onlyOf(s call.State, listener string) call.State {
	s.Listeners = []string{listener}
	return s
}

func TestAHistoryKeepsEveryAttemptButNoValue(t *testing.T) {
	first, second := done("a@1", 1, call.Failed, 1), done("a@1", 2, call.OK, 9)
	first.Detail, second.Value, second.Detail = "why", "sealed", "how"
	late := done("a@1", 2, call.Failed, 10)
	h := take(history("a@1"), first, again("a@1", 2, 5), second, late, done("b@1", 1, call.OK, 3), again("a@1", 3, 11))
	second.Value = ""
	want := []call.Run{
		{Call: h.Accepted, Listener: "a@1", Attempt: 2, Status: call.OK, Completed: second},
		{Call: h.Accepted, Listener: "a@1", Attempt: 1, Status: call.Failed, Completed: first},
	}
	if diff := cmp.Diff(want, h.Runs("a@1")); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	for command, want := range map[string]bool{"c": true, "other": false} {
		if got := h.RetriedBy(command, "a@1"); got != want {
			t.Errorf("retried by %s: %v", command, got)
		}
	}
	if h.RetriedBy("c", "b@1") {
		t.Error("a retry of one listener counts for another")
	}
}

func TestTheSwiftRowOfAHistoryIsThatOfEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := call.History{Accepted: anyAccepted.Draw(t, "accepted"), Partition: rapid.Int32().Draw(t, "partition")}
		h.Traceparent = rapid.SampledFrom([]string{"", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}).Draw(t, "traceparent")
		want, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.EncodeRow(); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %s, %v\nwant %s", got, err, want)
		}
	})
}

func TestRunFilter(t *testing.T) {
	run := call.Run{Call: accepted(), Listener: "orders@7", Status: call.Failed}
	all := func(string) bool { return true }
	tests := []struct {
		name   string
		filter call.RunFilter
		want   bool
	}{
		{"nothing asked for", call.RunFilter{Readable: all}, true},
		{"a pipeline that is not readable", call.RunFilter{Readable: func(name string) bool { return name != "orders" }}, false},
		{"its pipeline", call.RunFilter{Pipeline: "orders", Readable: all}, true},
		{"another pipeline", call.RunFilter{Pipeline: "order", Readable: all}, false},
		{"its status", call.RunFilter{Status: call.Failed, Readable: all}, true},
		{"another status", call.RunFilter{Status: call.OK, Readable: all}, false},
		{"from when it was received", call.RunFilter{From: noon, Readable: all}, true},
		{"from later on", call.RunFilter{From: noon.Add(1), Readable: all}, false},
		{"until later", call.RunFilter{To: noon.Add(time.Millisecond), Readable: all}, true},
		{"until when it was received", call.RunFilter{To: noon, Readable: all}, false},
	}
	for _, tt := range tests {
		if got := tt.filter.Takes(run); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestPipelineVersion(t *testing.T) {
	for listener, want := range map[string]int{"orders@7": 7, "orders": 0, "orders@x": 0, "": 0} {
		if got := call.PipelineVersion(listener); got != want {
			t.Errorf("version of %q = %d, want %d", listener, got, want)
		}
	}
}
