package call_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/call"
)

// again is a retry that opens an attempt, so many minutes after noon.
func again(listener string, attempt, minutes int) call.Retried {
	return call.Retried{CorrelationID: correlationID, Listener: listener, Attempt: attempt, By: "ann", CommandID: "c", Time: after(minutes)}
}

// foldAll applies completions and retries and tells how many changed the state.
func foldAll(s call.State, all ...any) (call.State, int) {
	counted := 0
	for _, r := range all {
		var changed bool
		switch r := r.(type) {
		case call.Completed:
			s, changed = s.Complete(r)
		case call.Retried:
			s, changed = s.Retry(r)
		}
		if changed {
			counted++
		}
	}
	return s, counted
}

func TestRetry(t *testing.T) {
	type records = []any
	ok, failed, processing, never := call.OK, call.Failed, call.Processing, time.Time{}
	a, both := []string{"a@1"}, []string{"a@1", "b@1"}
	tests := []struct {
		name   string
		given  []string
		when   records
		status call.Status
		at     time.Time
		counts int
	}{
		{"a retry of a failed run has it processing again", a, records{done("a@1", 1, failed, 1), again("a@1", 2, 5)}, processing, never, 2},
		{"and its completion ends it", a, records{done("a@1", 1, failed, 1), again("a@1", 2, 5), done("a@1", 2, ok, 6)}, ok, after(6), 3},
		{"it may fail again", a, records{done("a@1", 1, failed, 1), again("a@1", 2, 5), done("a@1", 2, failed, 6)}, failed, after(6), 3},
		{"and be retried again", a, records{done("a@1", 1, failed, 1), again("a@1", 2, 5), done("a@1", 2, failed, 6), again("a@1", 3, 7)}, processing, never, 4},
		{"a second completion of the attempt before does not end it", a, records{done("a@1", 1, failed, 1), again("a@1", 2, 5), done("a@1", 1, ok, 6)}, processing, never, 2},
		{"a retry of a run that ended well is ignored", a, records{done("a@1", 1, ok, 1), again("a@1", 2, 5)}, ok, after(1), 1},
		{"a retry of a run that goes on is ignored", a, records{again("a@1", 2, 5)}, processing, never, 0},
		{"and does not count when it fails later", a, records{again("a@1", 2, 5), done("a@1", 1, failed, 6)}, failed, after(6), 1},
		{"a second retry of the same attempt is ignored", a, records{done("a@1", 1, failed, 1), again("a@1", 2, 5), again("a@1", 2, 6)}, processing, never, 2},
		{"a retry that skips an attempt is ignored", a, records{done("a@1", 1, failed, 1), again("a@1", 3, 5)}, failed, after(1), 1},
		{"a retry of an attempt that has ended is ignored", a, records{done("a@1", 1, failed, 1), done("a@1", 2, failed, 2), again("a@1", 2, 5)}, failed, after(2), 2},
		{"a retry of who does not listen is ignored", a, records{done("a@1", 1, failed, 1), again("b@1", 2, 5)}, failed, after(1), 1},
		{"one of two may be retried", both, records{done("a@1", 1, failed, 1), done("b@1", 1, ok, 2), again("a@1", 2, 5), done("a@1", 2, ok, 6)}, ok, after(6), 4},
		{"the other's failure stays", both, records{done("a@1", 1, failed, 1), done("b@1", 1, failed, 2), again("a@1", 2, 5), done("a@1", 2, ok, 6)}, failed, after(6), 4},
		{"a retry does not wait for the other", both, records{done("a@1", 1, failed, 1), again("a@1", 2, 5), done("a@1", 2, ok, 6), done("b@1", 1, ok, 7)}, ok, after(7), 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, counted := foldAll(begin(tt.given...), tt.when...)
			status, at := s.Finished()
			if status != tt.status || !at.Equal(tt.at) {
				t.Errorf("finished %s at %v, want %s at %v", status, at, tt.status, tt.at)
			}
			if counted != tt.counts {
				t.Errorf("%d records changed the state, want %d", counted, tt.counts)
			}
		})
	}
}

func TestARetryDoesNotWriteToTheStateBefore(t *testing.T) {
	before, _ := foldAll(begin("a@1", "b@1"), done("a@1", 1, call.Failed, 1), done("b@1", 1, call.Failed, 1), again("a@1", 2, 2))
	if _, changed := before.Retry(again("b@1", 2, 3)); !changed || len(before.Retries) != 1 {
		t.Errorf("changed %v, the state before has the retries %v", changed, before.Retries)
	}
}

func TestTheDetailIsNoPartOfTheState(t *testing.T) {
	c := done("a@1", 1, call.Failed, 1)
	c.Detail = "sealed"
	if s, _ := begin("a@1").Complete(c); s.Runs["a@1"].Detail != "" {
		t.Error("every poll reads the detail")
	}
}

func TestStatusOfRetries(t *testing.T) {
	limits := call.Limits{Life: time.Hour, Deadline: 24 * time.Hour}
	const day = 24 * 60
	state := func(records ...any) call.State {
		s, counted := foldAll(begin("a@1"), records...)
		if counted != len(records) {
			t.Fatalf("only %d of %d records count", counted, len(records))
		}
		return s
	}
	failed := done("a@1", 1, call.Failed, 10)
	open := state(failed, again("a@1", 2, 2*day))
	both, _ := foldAll(begin("a@1", "b@1"), failed, again("a@1", 2, 20*60))
	tests := []struct {
		name   string
		given  call.State
		when   time.Time
		then   call.Status
		living bool
	}{
		{"an expired call lives again", open, after(2*day + 1), call.Processing, true},
		{"the deadline counts from the retry", open, after(3 * day).Add(-1), call.Processing, true},
		{"at which it fails", open, after(3 * day), call.Failed, true},
		{"and is gone when that has lived", open, after(3*day + 60), call.Failed, false},
		{"an attempt that ends in time counts", state(failed, again("a@1", 2, 2*day), done("a@1", 2, call.OK, 3*day-5)), after(3*day + 50), call.OK, true},
		{"and lives from its end", state(failed, again("a@1", 2, 2*day), done("a@1", 2, call.OK, 3*day-5)), after(3*day + 55), call.OK, false},
		{"one that ends later does not", state(failed, again("a@1", 2, 2*day), done("a@1", 2, call.OK, 3*day+5)), after(3*day + 6), call.Failed, true},
		{"until the next one does", state(failed, again("a@1", 2, 2*day), done("a@1", 2, call.Failed, 3*day+5), again("a@1", 3, 3*day+30), done("a@1", 3, call.OK, 3*day+40)), after(3*day + 50), call.OK, true},
		{"a listener that never ended does not end the retry of the other", both, after(day), call.Processing, true},
		{"until its time is over too", both, after(20*60 + day), call.Failed, true},
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

// records draws completions and retries, as they may lie on a log.
func records() *rapid.Generator[[]any] {
	listener := rapid.SampledFrom([]string{"a@1", "b@1", "stranger@1"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 2).Draw(t, "kind") == 0 {
			return again(listener.Draw(t, "listener"), rapid.IntRange(2, 4).Draw(t, "attempt"), rapid.IntRange(0, 100).Draw(t, "minute"))
		}
		return done(
			listener.Draw(t, "listener"), rapid.IntRange(1, 3).Draw(t, "attempt"),
			rapid.SampledFrom([]call.Status{call.OK, call.Failed, call.Failed}).Draw(t, "status"), rapid.IntRange(0, 100).Draw(t, "minute"),
		)
	}), 0, 16)
}

// model is the rule, said of the whole log: which completion of a listener counts,
// and which attempt was opened last.
func model(all []any, listener string) (counts *call.Completed, opened int) {
	firsts := map[int]*call.Completed{0: nil}
	highest := func() *call.Completed { return firsts[slices.Max(slices.Collect(maps.Keys(firsts)))] }
	for _, r := range all {
		switch r := r.(type) {
		case call.Completed:
			if r.Listener == listener && firsts[r.Attempt] == nil {
				firsts[r.Attempt] = &r
			}
		case call.Retried:
			if last := highest(); r.Listener == listener && last != nil && last.Status == call.Failed && last.Attempt == r.Attempt-1 {
				opened = max(opened, r.Attempt)
			}
		}
	}
	return highest(), opened
}

func TestStatesWithRetriesFollowTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := records().Draw(t, "records")
		s, _ := foldAll(begin("a@1", "b@1"), all...)
		want := call.OK
		for _, l := range []string{"a@1", "b@1"} {
			counts, opened := model(all, l)
			got, ended := s.Runs[l]
			if ended != (counts != nil) || (ended && !cmp.Equal(got, *counts)) || s.Retries[l].Attempt != opened {
				t.Fatalf("%s: run %+v, opened %d; want %+v, %d", l, got, s.Retries[l].Attempt, counts, opened)
			}
			switch {
			case counts == nil || counts.Attempt < opened:
				want = call.Processing
			case counts.Status == call.Failed && want != call.Processing:
				want = call.Failed
			}
		}
		if status, _ := s.Finished(); status != want {
			t.Fatalf("the call is %s, want %s", status, want)
		}
		if diff := cmp.Diff(s, stored(t, s)); diff != "" {
			t.Fatalf("the state is stored as another (-folded +stored):\n%s", diff)
		}
	})
}

// The completions of different attempts may come in any order: only the first of
// each attempt must stay the first.
func TestTheOrderOfAttemptsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ends []any
		for _, c := range completions().Draw(t, "completions") {
			ends = append(ends, c)
		}
		type attempt struct {
			listener string
			n        int
		}
		seen := map[attempt]bool{}
		firsts := []any{}
		for _, r := range ends {
			c := r.(call.Completed)
			if at := (attempt{c.Listener, c.Attempt}); !seen[at] {
				seen[at] = true
				firsts = append(firsts, c)
			}
		}
		want, _ := foldAll(begin("a@1", "b@1"), ends...)
		got, _ := foldAll(begin("a@1", "b@1"), rapid.Permutation(firsts).Draw(t, "order")...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("states differ (-as it was +in another order):\n%s", diff)
		}
	})
}
