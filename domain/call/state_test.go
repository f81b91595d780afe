package call_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/call"
)

// done is a completion of an attempt, so many minutes after noon.
func done(listener string, attempt int, status call.Status, minutes int) call.Completed {
	return call.Completed{CorrelationID: correlationID, Listener: listener, Attempt: attempt, Status: status, Finished: after(minutes)}
}

func after(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func begin(listeners ...string) call.State {
	a := accepted()
	a.Listeners = listeners
	return call.Begin(a)
}

func TestComplete(t *testing.T) {
	type runs = []call.Completed
	ok, failed, processing, never := call.OK, call.Failed, call.Processing, time.Time{}
	a, both := []string{"a@1"}, []string{"a@1", "b@1"}
	tests := []struct {
		name   string
		given  []string
		when   runs
		status call.Status
		at     time.Time
		counts int
	}{
		{"a call without listeners is complete when it is received", nil, nil, ok, noon, 0},
		{"a call with a listener is processing", a, nil, processing, never, 0},
		{"its completion ends it", a, runs{done("a@1", 1, ok, 1)}, ok, after(1), 1},
		{"a failed completion ends it too", a, runs{done("a@1", 1, failed, 1)}, failed, after(1), 1},
		{"of one attempt the first completion counts", a, runs{done("a@1", 1, ok, 1), done("a@1", 1, failed, 2)}, ok, after(1), 1},
		{"a higher attempt replaces a lower one", a, runs{done("a@1", 1, failed, 1), done("a@1", 2, ok, 2)}, ok, after(2), 2},
		{"a lower attempt that comes late is ignored", a, runs{done("a@1", 2, ok, 1), done("a@1", 1, failed, 2)}, ok, after(1), 1},
		{"a listener that was not listed is ignored", a, runs{done("b@1", 1, ok, 1)}, processing, never, 0},
		{"another version of a listener is another listener", a, runs{done("a@2", 1, ok, 1)}, processing, never, 0},
		{"a call without listeners ignores completions", nil, runs{done("a@1", 1, failed, 1)}, ok, noon, 0},
		{"one of two is not enough", both, runs{done("a@1", 1, ok, 1)}, processing, never, 1},
		{"a failure of one of two waits for the other", both, runs{done("a@1", 1, failed, 1)}, processing, never, 1},
		{"the last of two ends the call", both, runs{done("b@1", 1, ok, 5), done("a@1", 1, ok, 3)}, ok, after(5), 2},
		{"one failure makes the call fail", both, runs{done("a@1", 1, failed, 1), done("b@1", 1, ok, 2)}, failed, after(2), 2},
		{"a clock behind the receiver's does not end a call before it began", a, runs{done("a@1", 1, ok, -1)}, ok, noon, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, counted := fold(begin(tt.given...), tt.when)
			status, at := s.Finished()
			if status != tt.status || !at.Equal(tt.at) {
				t.Errorf("finished %s at %v, want %s at %v", status, at, tt.status, tt.at)
			}
			if counted != tt.counts {
				t.Errorf("%d completions changed the state, want %d", counted, tt.counts)
			}
		})
	}
}

// fold applies the completions and tells how many of them changed the state.
func fold(s call.State, all []call.Completed) (call.State, int) {
	counted := 0
	for _, c := range all {
		next, changed := s.Complete(c)
		if changed {
			counted++
		}
		s = next
	}
	return s, counted
}

func TestACompletionDoesNotWriteToTheStateBefore(t *testing.T) {
	before, _ := begin("a@1", "b@1").Complete(done("a@1", 1, call.Failed, 1))
	after, _ := before.Complete(done("a@1", 2, call.OK, 2))
	if before.Runs["a@1"].Attempt != 1 || after.Runs["a@1"].Attempt != 2 {
		t.Errorf("attempts: before %d, after %d", before.Runs["a@1"].Attempt, after.Runs["a@1"].Attempt)
	}
}

func completions() *rapid.Generator[[]call.Completed] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) call.Completed {
		return done(
			rapid.SampledFrom([]string{"a@1", "b@1", "stranger@1"}).Draw(t, "listener"),
			rapid.IntRange(1, 3).Draw(t, "attempt"),
			rapid.SampledFrom([]call.Status{call.OK, call.Failed}).Draw(t, "status"),
			rapid.IntRange(0, 100).Draw(t, "minute"),
		)
	}), 0, 12)
}

func TestTheFirstCompletionOfTheHighestAttemptCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := completions().Draw(t, "completions")
		want := map[string]call.Completed{}
		for _, listener := range []string{"a@1", "b@1"} {
			for attempt := 3; attempt >= 1; attempt-- {
				if c, ok := first(all, listener, attempt); ok {
					want[listener] = c
					break
				}
			}
		}
		s, _ := fold(begin("a@1", "b@1"), all)
		if len(want) != len(s.Runs) || (len(want) > 0 && !cmp.Equal(want, s.Runs)) {
			t.Fatalf("runs differ (-want +got):\n%s", cmp.Diff(want, s.Runs))
		}
	})
}

func first(all []call.Completed, listener string, attempt int) (call.Completed, bool) {
	for _, c := range all {
		if c.Listener == listener && c.Attempt == attempt {
			return c, true
		}
	}
	return call.Completed{}, false
}

func TestAReplayChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := completions().Draw(t, "completions")
		once, _ := fold(begin("a@1", "b@1"), all)
		twice, counted := fold(stored(t, once), all)
		if counted != 0 {
			t.Fatalf("%d completions counted again", counted)
		}
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Fatalf("a replay over the stored state differs (-once +twice):\n%s", diff)
		}
	})
}

// stored is the state as a projection reads it back.
func stored(t *rapid.T, s call.State) call.State {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back call.State
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}
