package call_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/call"
)

// poll is one poll: how long after the one before, what it is answered, and how
// long the next must wait.
type poll struct {
	After  time.Duration
	InPace bool
	Wait   time.Duration
}

func TestPace(t *testing.T) {
	const s = time.Second
	early, patient := false, true
	tests := []struct {
		name string
		then []poll
	}{
		{"the first poll is always answered", []poll{{0, patient, 5 * s}}},
		{"a poll every five seconds stays in pace", []poll{{0, patient, 5 * s}, {5 * s, patient, 5 * s}, {5 * s, patient, 5 * s}}},
		{"a moment less than five seconds is too early", []poll{{0, patient, 5 * s}, {5*s - 1, early, 10 * s}}},
		{
			"each early poll doubles the wait, up to a minute",
			[]poll{{0, patient, 5 * s}, {s, early, 10 * s}, {s, early, 20 * s}, {s, early, 40 * s}, {s, early, 60 * s}, {s, early, 60 * s}},
		},
		{
			"the wait counts from the early poll",
			[]poll{{0, patient, 5 * s}, {4 * s, early, 10 * s}, {10*s - 1, early, 20 * s}, {20 * s, patient, 10 * s}},
		},
		{
			"each patient poll halves the wait, down to five seconds",
			[]poll{
				{0, patient, 5 * s},
				{0, early, 10 * s},
				{0, early, 20 * s},
				{0, early, 40 * s},
				{40 * s, patient, 20 * s},
				{20 * s, patient, 10 * s},
				{10 * s, patient, 5 * s},
				{5 * s, patient, 5 * s},
			},
		},
		{
			"a minute is halved until five seconds are the least",
			[]poll{
				{0, patient, 5 * s},
				{0, early, 10 * s},
				{0, early, 20 * s},
				{0, early, 40 * s},
				{0, early, 60 * s},
				{60 * s, patient, 30 * s},
				{30 * s, patient, 15 * s},
				{15 * s, patient, 7500 * time.Millisecond},
				{8 * s, patient, 5 * s},
			},
		},
		{"a long silence halves the wait only once", []poll{{0, patient, 5 * s}, {0, early, 10 * s}, {0, early, 20 * s}, {time.Hour, patient, 10 * s}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var pace call.Pace
			now := noon
			var got []poll
			for _, p := range tt.then {
				now = now.Add(p.After)
				var ok bool
				pace, ok = pace.Poll(now)
				got = append(got, poll{p.After, ok, pace.Wait()})
			}
			if diff := cmp.Diff(tt.then, got); diff != "" {
				t.Errorf("polls differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhoWaitsAsToldIsAlwaysInPace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pace call.Pace
		now := noon
		for _, seconds := range rapid.SliceOf(rapid.IntRange(0, 70)).Draw(t, "polls") {
			now = now.Add(time.Duration(seconds) * time.Second)
			pace, _ = pace.Poll(now)
			if w := pace.Wait(); w < call.MinPollWait || w > call.MaxPollWait {
				t.Fatalf("the wait is %v", w)
			}
			if _, ok := pace.Poll(now.Add(pace.Wait())); !ok {
				t.Fatalf("a poll after the wait of %v is too early", pace.Wait())
			}
		}
	})
}
