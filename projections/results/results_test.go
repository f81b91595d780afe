package results_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

func TestTheFirstAcceptedRecordOfACallCounts(t *testing.T) {
	i := start(t)
	i.fold(accepted(1, "a@1"), accepted(1, "other@9"), accepted(1))
	want := call.State{CorrelationID: id(1), TraceID: "abc123:0000000001", Received: monday, Listeners: []string{"a@1"}}
	if diff := cmp.Diff(want, i.call(id(1))); diff != "" {
		t.Errorf("call (-want +got):\n%s", diff)
	}
}

func TestACallIsCompleteWhenAllItsListenersAre(t *testing.T) {
	i := start(t)
	tests := []struct {
		after record.Record
		want  call.Status
		at    time.Duration
	}{
		{after: accepted(1, "a@1", "b@2"), want: call.Processing},
		{after: completed(1, "b@2", 1, call.OK), want: call.Processing},
		{after: completed(1, "nobody@1", 1, call.Failed), want: call.Processing},
		{after: completed(1, "a@1", 2, call.Failed), want: call.Failed, at: 2 * time.Minute},
		{after: completed(1, "a@1", 1, call.OK), want: call.Failed, at: 2 * time.Minute}, // a lower attempt
		{after: completed(1, "a@1", 2, call.OK), want: call.Failed, at: 2 * time.Minute}, // not the first of its attempt
		{after: retried(1, "a@1", 4), want: call.Failed, at: 2 * time.Minute},            // not the next attempt
		{after: retried(1, "a@1", 3), want: call.Processing},
		{after: completed(1, "a@1", 3, call.OK), want: call.OK, at: 3 * time.Minute},
		{after: retried(1, "a@1", 4), want: call.OK, at: 3 * time.Minute}, // of a run that ended well
	}
	for n, tt := range tests {
		i.fold(tt.after)
		status, at := i.call(id(1)).Finished()
		if status != tt.want || (status != call.Processing && !at.Equal(monday.Add(tt.at))) {
			t.Errorf("after record %d the call is %s since %s, want %s since %s", n, status, at, tt.want, monday.Add(tt.at))
		}
	}
	t.Run("and one without listeners at once", func(t *testing.T) {
		i.fold(accepted(2))
		if status, at := i.call(id(2)).Finished(); status != call.OK || !at.Equal(monday) {
			t.Errorf("the call is %s since %s", status, at)
		}
	})
}

func TestACompletionOfAnUnknownCallIsIgnored(t *testing.T) {
	i := start(t)
	i.fold(completed(1, "a@1", 1, call.OK))
	if s, known, err := i.Call(id(1)); known || err != nil {
		t.Errorf("the call is known as %+v, %v", s, err)
	}
	i.fold(accepted(1, "a@1"))
	if status, _ := i.call(id(1)).Finished(); status != call.Processing {
		t.Errorf("a completion from before the call was accepted made it %s", status)
	}
	if n := i.runner.Parked(); n != 0 {
		t.Errorf("%d records are parked: an early completion is no bad record", n)
	}
}

func TestOnlyTheIDOfACallFindsIt(t *testing.T) {
	i := start(t)
	i.fold(accepted(1))
	for _, id := range []string{"", "x", id(2), id(1) + " ", strings.Repeat("0", 4096)} {
		if _, known, err := i.Call(id); known || err != nil {
			t.Errorf("%.50q: known %v, %v", id, known, err)
		}
	}
	i.call(id(1))
}

func TestARecordWithAnotherFormOfItsIDIsParked(t *testing.T) {
	i := start(t)
	other := accepted(1)
	other.Key = []byte(strings.ToUpper(id(1)))
	other.Value = []byte(strings.ReplaceAll(string(other.Value), id(1), strings.ToUpper(id(1))))
	i.fold(other)
	if _, known, _ := i.Call(id(1)); known || i.runner.Parked() != 1 {
		t.Errorf("the call is known: %v; parked: %d, want 1", known, i.runner.Parked())
	}
}

func TestPartitionsAreFoldedAtTheSameTime(t *testing.T) {
	const calls = 300
	i := start(t)
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for n := w; n < calls; n += 3 {
				i.log.Append(accepted(n, "a@1"))
				i.log.Append(completed(n, "a@1", 1, call.OK))
			}
		})
	}
	writers.Wait()
	if err := i.runner.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	used := map[int32]int{}
	for n := range calls {
		used[call.Partition(id(n), partitions)]++
		if status, _ := i.call(id(n)).Finished(); status != call.OK {
			t.Errorf("call %d is %s", n, status)
		}
	}
	if len(used) != partitions {
		t.Errorf("the calls lie in partitions %v only", used)
	}
	if done, _ := i.runner.Folded(); done != 2*calls {
		t.Errorf("%d records are folded, want %d", done, 2*calls)
	}
}

// BenchmarkFold folds calls and their completions, in one partition.
func BenchmarkFold(b *testing.B) {
	records := make([]record.Record, b.N)
	for n := range records {
		if n%2 == 0 {
			records[n] = accepted(n/2, "a@1")
		} else {
			records[n] = completed(n/2, "a@1", 1, call.OK)
		}
		records[n].Partition = 0
	}
	i := start(b)
	b.ReportAllocs()
	b.ResetTimer()
	if err := i.runner.Wait(b.Context(), i.log.Append(records...)); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
