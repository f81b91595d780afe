package verify_test

import (
	"strings"
	"testing"
	"time"

	"hooklog/cmd/verify"
	"hooklog/domain/proof"
	"hooklog/domain/record"
)

const retention = time.Hour

var calls0 = part{record.TopicCall, 0}

// expiring are the options of who keeps calls and events for an hour.
func (w *world) expiring() verify.Options {
	opts := w.options()
	opts.Retention = func(topic string) time.Duration {
		if topic == record.TopicCommand {
			return 0
		}
		return retention
	}
	return opts
}

// aged is a world of ten signed rounds, ten minutes apart, of which the first four
// are older than the retention, and the fifth as good as: 10 records of each
// partition of svc.call, and 2 of which no checkpoint tells.
func aged(t *testing.T) *world {
	w := newWorld(t)
	for n := range 10 {
		w.round(n)
		w.checkpoint()
		w.pass(10 * time.Minute)
	}
	return w
}

func TestWhatExpiredIsNoDifference(t *testing.T) {
	for name, removed := range map[string]int{"up to a checkpoint": 6, "between two checkpoints": 5} {
		t.Run(name, func(t *testing.T) {
			w := aged(t)
			w.remove(calls0, removed)
			w.remove(part{eventTopic, 0}, removed+1)
			report := w.verify(w.expiring())
			if len(report.Differences) != 0 {
				t.Fatal(text(t, report))
			}
			got := report.Trees[1]
			want := verify.Tree{Topic: record.TopicCall, Start: int64(removed), From: 6, Proved: 20, End: 20}
			if got != want || report.Events.Expired != 1 {
				t.Errorf("tree %+v, want %+v; events %+v", got, want, report.Events)
			}
			w.records[calls0][12].Value[0] ^= 1
			if got := first(t, w.verify(w.expiring())); !strings.HasPrefix(got, "svc.call/0@") {
				t.Errorf("what was changed behind it: found %s", got)
			}
		})
	}
}

func TestWhatIsGoneTooEarly(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(w *world)
		want string
	}{
		"calls that are younger than the retention": {func(w *world) { w.remove(calls0, 14) }, "svc.call/0@12"},
		"commands, which are kept for ever":         {func(w *world) { w.remove(part{record.TopicCommand, 0}, 1) }, "svc.command/0@0"},
		"checkpoints, which are kept for ever":      {func(w *world) { w.remove(part{record.TopicCheckpoint, 0}, 1) }, "svc.checkpoint/0@0"},
		"events that are younger than the retention": {
			func(w *world) { w.remove(part{eventTopic, 1}, 12) }, eventTopic + "/1@10",
		},
		"all calls, also what the checkpoints would go on from": {func(w *world) { w.remove(calls0, 20) }, "svc.call/0@12"},
	} {
		t.Run(name, func(t *testing.T) {
			w := aged(t)
			tc.do(w)
			if got := first(t, w.verify(w.expiring())); got != tc.want {
				t.Errorf("found %s, want %s", got, tc.want)
			}
		})
	}
	t.Run("calls of a topic that keeps for ever", func(t *testing.T) {
		w := aged(t)
		w.remove(calls0, 2)
		if got := first(t, w.verify(w.options())); got != "svc.call/0@0" {
			t.Errorf("found %s", got)
		}
	})
}

// begun is a world whose tree of svc.call/0 was begun anew behind all that was
// signed, some time after the last checkpoint.
func begun(t *testing.T, later time.Duration) *world {
	w := aged(t)
	w.pass(later)
	w.round(10)
	w.remove(calls0, 22)
	tree := proof.Begin(22)
	w.trees[calls0] = &tree
	w.leaves[calls0] = make([]proof.Hash, 22)
	w.round(11)
	for i := range w.records[calls0] { // the world numbers records from 0 on
		w.records[calls0][i].Offset = 22 + int64(i)
	}
	tree = proof.Begin(22)
	for i := range w.records[calls0] {
		leaf := proof.LeafHash(&w.records[calls0][i])
		tree.Append(leaf)
		w.leaves[calls0] = append(w.leaves[calls0][:22+i], leaf)
	}
	w.checkpoint()
	return w
}

func TestATreeThatWasBegunAnew(t *testing.T) {
	t.Run("after the retention of what is missing", func(t *testing.T) {
		w := begun(t, 3*time.Hour)
		report := w.verify(w.expiring())
		want := verify.Tree{Topic: record.TopicCall, Start: 22, From: 22, Proved: 24, End: 24}
		if len(report.Differences) != 0 || report.Trees[1] != want {
			t.Errorf("%+v\n%s", report.Trees[1], text(t, report))
		}
		w.records[calls0][1].Value[0] ^= 1
		if got := first(t, w.verify(w.expiring())); got != "svc.call/0@23" {
			t.Errorf("what was changed in it: found %s", got)
		}
	})
	t.Run("before, and looked at long after", func(t *testing.T) {
		w := begun(t, time.Minute)
		w.pass(3 * time.Hour)
		if got := first(t, w.verify(w.expiring())); got != "svc.call/0@12" {
			t.Errorf("found %s", got)
		}
	})
}
