package results_test

import (
	"testing"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

func woken(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}

func TestAWatchIsWokenByWhatMayChangeTheCallAndByNothingElse(t *testing.T) {
	i := start(t)
	tests := []struct {
		name   string
		record record.Record
		want   bool
	}{
		{"another call", accepted(2, "a@1"), false},
		{"a completion before the call is known", completed(1, "a@1", 1, call.OK), false},
		{"the accepted record", accepted(1, "a@1", "b@1"), true},
		{"the accepted record again, which is not looked up", accepted(1, "a@1", "b@1"), true},
		{"the completion of a listener", completed(1, "a@1", 2, call.Failed), true},
		{"the same completion again", completed(1, "a@1", 2, call.Failed), false},
		{"the completion of a lower attempt", completed(1, "a@1", 1, call.OK), false},
		{"the completion of a higher attempt", completed(1, "a@1", 3, call.OK), true},
		{"the completion of one that does not listen", completed(1, "c@1", 1, call.OK), false},
		{"a retry of a run that ended well", retried(1, "a@1", 4), false},
		{"the last completion", completed(1, "b@1", 1, call.Failed), true},
		{"a retry of the run that failed", retried(1, "b@1", 2), true},
		{"the same retry again", retried(1, "b@1", 2), false},
		{"the completion of the retry", completed(1, "b@1", 2, call.OK), true},
	}
	for _, tt := range tests {
		changed, stop := i.Watch(id(1))
		i.fold(tt.record)
		if got := woken(changed); got != tt.want {
			t.Errorf("%s: woken %v, want %v", tt.name, got, tt.want)
		}
		stop()
	}
}

func TestAllWhoWatchACallAreWoken(t *testing.T) {
	i := start(t)
	first, stopFirst := i.Watch(id(1))
	gone, stopGone := i.Watch(id(1))
	last, stopLast := i.Watch(id(1))
	defer stopFirst()
	defer stopLast()
	stopGone()
	i.fold(accepted(1))
	if !woken(first) || !woken(last) {
		t.Error("somebody who watches was not woken because another has stopped")
	}
	if !woken(gone) {
		t.Error("the channel is not the one that all share")
	}
}

func TestAWatchThatWasWokenIsOverAndTheNextIsNew(t *testing.T) {
	i := start(t)
	before, stopBefore := i.Watch(id(1))
	i.fold(accepted(1, "a@1"))
	after, stopAfter := i.Watch(id(1))
	stopBefore() // must not end the watch that began since
	if !woken(before) || woken(after) {
		t.Fatalf("woken: the old watch %v, the new one %v", woken(before), woken(after))
	}
	i.fold(completed(1, "a@1", 1, call.OK))
	if !woken(after) {
		t.Error("the new watch was not woken")
	}
	stopAfter()
}

func TestWatchesThatWereStoppedOrWokenAreForgotten(t *testing.T) {
	i := start(t)
	var stops []func()
	for n := range 30 {
		for range 2 {
			_, stop := i.Watch(id(n))
			stops = append(stops, stop)
		}
	}
	if n := i.Watched(); n != 30 {
		t.Fatalf("%d calls are watched, want 30", n)
	}
	for n := range 10 {
		i.fold(accepted(n))
	}
	if n := i.Watched(); n != 20 {
		t.Errorf("%d calls are watched after 10 of 30 changed", n)
	}
	for _, stop := range stops {
		stop()
	}
	if n := i.Watched(); n != 0 {
		t.Errorf("%d calls are still watched", n)
	}
}

// A held poll that is woken answers from the row.
func TestWhoeverIsWokenReadsTheRow(t *testing.T) {
	i := start(t)
	for n := range 100 {
		changed, stop := i.Watch(id(n))
		i.log.Append(accepted(n))
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal("the watch is not woken")
		}
		i.call(id(n))
		stop()
	}
}
