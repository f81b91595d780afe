package runs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/projectiontest"
	"hooklog/projections/runs"
)

func anybody(string) bool { return true }

// list gives all pages of a list as lines.
func (i *instance) list(f call.RunFilter, limit int) (lines []string) {
	i.t.Helper()
	if f.Readable == nil {
		f.Readable = anybody
	}
	for after := ""; ; {
		page, next, err := i.List(f, after, limit)
		if err != nil {
			i.t.Fatal(err)
		}
		if len(page) > limit {
			i.t.Fatalf("%d runs on a page of %d", len(page), limit)
		}
		for _, r := range page {
			lines = append(lines, fmt.Sprintf("%s %s %d %s", r.Call.TraceID[len("abc123:"):][9:], r.Listener, r.Attempt, r.Status))
		}
		if next == "" {
			return lines
		}
		after = next
	}
}

func TestRunsAreListedTheNewestFirst(t *testing.T) {
	i := start(t)
	second := calling(2, "webhook.other", "late@1")
	second.Received = received(9)
	i.fold(
		accepted(1, "a@1"), accepted(2, "a@1", "b@3"), accepted(3), accepted(4, "b@3"),
		encoded(second), // of a call that is known: it does not count
		completed(1, "a@1", 1, call.Failed), retried(1, "a@1", 2), completed(1, "a@1", 2, call.OK),
		completed(2, "b@3", 1, call.Failed),
		completed(4, "b@3", 1, call.Failed), retried(4, "b@3", 2),
	)
	tests := []struct {
		name   string
		filter call.RunFilter
		want   string
	}{
		{"all", call.RunFilter{}, "4 b@3 2 processing, 2 a@1 1 processing, 2 b@3 1 error, 1 a@1 2 ok"},
		{"of a pipeline", call.RunFilter{Pipeline: "b"}, "4 b@3 2 processing, 2 b@3 1 error"},
		{"that failed", call.RunFilter{Status: call.Failed}, "2 b@3 1 error"},
		{"that failed, of another pipeline", call.RunFilter{Status: call.Failed, Pipeline: "a"}, ""},
		{"that failed, from a time on", call.RunFilter{Status: call.Failed, From: received(3)}, ""},
		{"that go on", call.RunFilter{Status: call.Processing}, "4 b@3 2 processing, 2 a@1 1 processing"},
		{"that are readable", call.RunFilter{Readable: func(name string) bool { return name == "a" }}, "2 a@1 1 processing, 1 a@1 2 ok"},
		{"from a time on", call.RunFilter{From: received(2)}, "4 b@3 2 processing, 2 a@1 1 processing, 2 b@3 1 error"},
		{"up to a time", call.RunFilter{To: received(4)}, "2 a@1 1 processing, 2 b@3 1 error, 1 a@1 2 ok"},
		{"up to a moment behind a call", call.RunFilter{To: received(2).Add(time.Nanosecond)}, "2 a@1 1 processing, 2 b@3 1 error, 1 a@1 2 ok"},
		{"between two times", call.RunFilter{From: received(1).Add(1), To: received(4)}, "2 a@1 1 processing, 2 b@3 1 error"},
		{"none", call.RunFilter{Pipeline: "c"}, ""},
	}
	for _, tt := range tests {
		for _, limit := range []int{1, 2, 3, 100} {
			t.Run(fmt.Sprintf("%s, %d on a page", tt.name, limit), func(t *testing.T) {
				if diff := cmp.Diff(tt.want, strings.Join(i.list(tt.filter, limit), ", ")); diff != "" {
					t.Errorf("list (-want +got):\n%s", diff)
				}
			})
		}
	}
	t.Run("a full page that is the last says so", func(t *testing.T) {
		if page, next, err := i.List(call.RunFilter{Pipeline: "b", Readable: anybody}, "", 2); len(page) != 2 || next != "" || err != nil {
			t.Errorf("%d runs, next %q, %v", len(page), next, err)
		}
	})
	t.Run("a place that never was is no failure", func(t *testing.T) {
		if page, next, err := i.List(call.RunFilter{Readable: anybody}, strings.Repeat("\xff", 30), 2); len(page) != 0 || next != "" || err != nil {
			t.Errorf("%d runs, next %q, %v", len(page), next, err)
		}
	})
}

func TestAPageLooksAtABoundedNumberOfRows(t *testing.T) {
	i := start(t)
	const calls = runs.MaxLooked + 10
	records := make([]record.Record, calls)
	for n := range records {
		records[n] = accepted(n, "a@1")
	}
	i.log.Append(records...)
	i.fold(completed(0, "a@1", 1, call.OK))
	if err := i.runner.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := call.RunFilter{Status: call.OK, Readable: anybody}
	page, next, err := i.List(f, "", 100)
	if len(page) != 0 || next == "" || err != nil {
		t.Fatalf("%d runs, next %q, %v: the first page must end with a next", len(page), next, err)
	}
	page, next, err = i.List(f, next, 100)
	if len(page) != 1 || next != "" || err != nil {
		t.Fatalf("%d runs, next %q, %v: the second page must have the run", len(page), next, err)
	}
	t.Run("but finds those that failed among any number", func(t *testing.T) {
		i.fold(completed(1, "a@1", 1, call.Failed))
		page, next, err := i.List(call.RunFilter{Status: call.Failed, Readable: anybody}, "", 100)
		if len(page) != 1 || next != "" || err != nil {
			t.Errorf("%d runs, next %q, %v", len(page), next, err)
		}
	})
}

func TestACallHasAllItsAttempts(t *testing.T) {
	i := start(t)
	i.fold(
		accepted(1, "a@1", "b@2"), completed(1, "a@1", 1, call.Failed), completed(1, "a@1", 1, call.OK),
		retried(1, "a@1", 2), completed(1, "a@1", 2, call.OK), completed(1, "c@1", 1, call.OK),
	)
	h, known, err := i.Run(id(1))
	if err != nil || !known {
		t.Fatalf("known %v, %v", known, err)
	}
	if want := call.Partition(id(1), partitions); h.Partition != want {
		t.Errorf("partition %d, want %d", h.Partition, want)
	}
	a := calling(1, "webhook.a", "a@1", "b@2")
	want := []call.Run{
		{Call: a, Listener: "a@1", Attempt: 2, Status: call.OK, Completed: ended(1, "a@1", 2, call.OK)},
		{Call: a, Listener: "a@1", Attempt: 1, Status: call.Failed, Completed: ended(1, "a@1", 1, call.Failed)},
	}
	if diff := cmp.Diff(want, h.Runs("a@1")); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	t.Run("without the values", func(t *testing.T) {
		if rows := projectiontest.Dump(t, i.store); strings.Contains(rows, "sealed value") {
			t.Error("the values are stored here as well")
		}
	})
	t.Run("and is not found by another id", func(t *testing.T) {
		i.fold(accepted(3)) // nobody listens
		for _, other := range []string{"", "x", id(2), id(3), strings.Repeat("0", 4096)} {
			if _, known, err := i.Run(other); known || err != nil {
				t.Errorf("%.40q: known %v, %v", other, known, err)
			}
		}
	})
}

func TestASentEventCountsAsItCameFirst(t *testing.T) {
	i := start(t)
	for _, listeners := range [][]string{nil, {"late@1"}} { // a pipeline was put in between
		sent := encoded(calling(1, "stock", listeners...))
		sent.Headers = append(sent.Headers, record.Header{Key: record.HeaderDepth, Value: []byte("1")})
		i.fold(sent)
	}
	if history, known, err := i.Run(id(1)); err != nil || !known || len(history.Listeners) != 0 {
		t.Errorf("the call is %+v, %v, %v", history, known, err)
	}
	if lines := i.list(call.RunFilter{}, 10); len(lines) != 0 {
		t.Errorf("listed are %v", lines)
	}
}

func TestACursorTellsNothingOfRunsThatMayNotBeSeen(t *testing.T) {
	i := start(t)
	records := make([]record.Record, 0, runs.MaxLooked+2)
	for n := range runs.MaxLooked + 1 {
		a := calling(n+1, "webhook.a", "hidden@1")
		a.Received = received(9)
		records = append(records, encoded(a))
	}
	i.log.Append(append(records, accepted(5000, "seen@1"))...)
	if err := i.runner.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := func(name string) bool { return name == "seen" }
	for _, limit := range []int{1, 10} {
		page, next, err := i.List(call.RunFilter{Readable: seen}, "", limit)
		if err != nil || next == "" || strings.Contains(next, "hidden") {
			t.Fatalf("%d runs, next %q, %v", len(page), next, err)
		}
		for n := range records { // a correlation id opens the call's result
			if own := uuid.MustParse(id(n + 1)); strings.Contains(next, string(own[:])) {
				t.Fatalf("the cursor has the correlation id of call %d in it", n+1)
			}
		}
	}
	if all := i.list(call.RunFilter{}, 100); len(all) != len(records)+1 {
		t.Errorf("%d runs in all, want %d", len(all), len(records)+1)
	}
}
