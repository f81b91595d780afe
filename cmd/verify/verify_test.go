package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/cmd/verify"
	"hooklog/domain/proof"
	"hooklog/domain/record"
)

func text(t *testing.T, r verify.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAnUntouchedLogIsGreen(t *testing.T) {
	w := busy(t, 5)
	w.event(0)
	opts := w.options()
	var told int64
	opts.Progress = func(done, of int64) { told = max(told, done*1000/of) }
	report := w.verify(opts)
	want := `Read 102 records, and 5 checkpoints signed by hooklog-0a1b2c3d, the newest at ` + report.Newest.Format(time.RFC3339) + `.
  svc.command/0: proved to 20, 4 newer unproven
  svc.call/0: proved to 10, 2 newer unproven
  svc.call/1: proved to 10, 2 newer unproven
  svc.access/0: proved to 20, 4 newer unproven
  events: 24 as accepted, 0 gone after their retention, 1 never acknowledged
Rollback not checked: there is no outside checkpoint (--checkpoint).
Nothing differs.
`
	if diff := cmp.Diff(want, text(t, report)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if told != 1000 {
		t.Errorf("progress ended at %d of 1000", told)
	}
	opts.Outside = w.newest
	if report := w.verify(opts); len(report.Differences) != 0 || !strings.Contains(text(t, report), "Rollback checked against") {
		t.Errorf("with an outside checkpoint:\n%s", text(t, report))
	}
}

func TestALogWithoutCheckpointsIsUnproven(t *testing.T) {
	w := newWorld(t)
	w.round(0)
	delete(w.records, part{record.TopicCheckpoint, 0})
	if got := text(t, w.verify(w.options())); !strings.Contains(got, "svc.call/0: proved to 0, 2 newer unproven") || !strings.Contains(got, "Nothing differs.") {
		t.Error(got)
	}
}

// tampering changes one partition at an index and says which offset differs first.
type tampering struct {
	name string
	do   func(w *world, p part, i int) (first int)
}

var tamperings = []tampering{
	{"an edited value", func(w *world, p part, i int) int {
		r := &w.records[p][i]
		r.Value = append(slices.Clone(r.Value[:len(r.Value)-1]), r.Value[len(r.Value)-1]^1)
		return i
	}},
	{"an edited header", func(w *world, p part, i int) int {
		w.records[p][i].Headers = append(slices.Clone(w.records[p][i].Headers), record.Header{Key: "x"})
		return i
	}},
	{"a dropped record", func(w *world, p part, i int) int {
		w.records[p] = renumbered(slices.Delete(slices.Clone(w.records[p]), i, i+1))
		return i
	}},
	{"two records in each other's place", func(w *world, p part, i int) int {
		i = min(i, len(w.records[p])-2)
		records := slices.Clone(w.records[p])
		records[i], records[i+1] = records[i+1], records[i]
		w.records[p] = renumbered(records)
		return i
	}},
	{"a forged record", func(w *world, p part, i int) int {
		w.records[p] = renumbered(slices.Insert(slices.Clone(w.records[p]), i, w.records[p][(i+1)%len(w.records[p])]))
		return i
	}},
}

func renumbered(records []record.Record) []record.Record {
	for i := range records {
		records[i].Offset = int64(i)
	}
	return records
}

func first(t *testing.T, report verify.Report) string {
	t.Helper()
	if len(report.Differences) == 0 {
		t.Fatalf("nothing was found:\n%s", text(t, report))
	}
	d := report.Differences[0]
	at := record.Position{Topic: d.Topic, Partition: d.Partition, Offset: d.Offset}.String()
	if d.To > 0 {
		at += fmt.Sprintf("-%d", d.To)
	}
	return at
}

func TestEveryTamperingIsNamed(t *testing.T) {
	trees := []part{{record.TopicCommand, 0}, {record.TopicCall, 0}, {record.TopicCall, 1}, {record.TopicAccess, 0}}
	for _, tamper := range tamperings {
		t.Run(tamper.name, func(t *testing.T) {
			for range 8 {
				w := busy(t, 5)
				p := trees[rand.IntN(len(trees))]
				at := tamper.do(w, p, rand.IntN(int(w.trees[p].Size())/6*5)) // of six rounds, five are signed
				want := record.Position{Topic: p.topic, Partition: p.index, Offset: int64(at)}.String()
				if got := first(t, w.verify(w.options())); got != want {
					t.Fatalf("found %s, want %s", got, want)
				}
				opts := w.options()
				opts.Leaves = nil
				d := w.verify(opts).Differences[0]
				if d.Topic != p.topic || d.Partition != p.index || int64(at) < d.Offset || int64(at) >= d.To {
					t.Fatalf("without stored leaves: found %s, want one that holds %s", d, want)
				}
			}
		})
		t.Run(tamper.name+" among the events", func(t *testing.T) {
			w := busy(t, 5)
			p := part{eventTopic, rand.Int32N(2)}
			want := record.Position{Topic: p.topic, Partition: p.index, Offset: int64(tamper.do(w, p, rand.IntN(12)))}.String()
			if got := first(t, w.verify(w.options())); got != want {
				t.Fatalf("found %s, want %s", got, want)
			}
		})
	}
}

func TestStoredLeavesThatWereChangedTooAreNotBelieved(t *testing.T) {
	w := busy(t, 5)
	p := part{record.TopicCommand, 0}
	w.records[p][10].Value = []byte("forged")
	w.leaves[p][3][0] ^= 1
	w.leaves[p][9][0] ^= 1
	if got := first(t, w.verify(w.options())); got != "svc.command/0@8-12" {
		t.Errorf("found %s", got)
	}
}

func TestALogThatIsShorterThanWhatWasSigned(t *testing.T) {
	cut := func(w *world, p part, to int) { w.records[p] = w.records[p][:to] }
	t.Run("its end is missing", func(t *testing.T) {
		w := busy(t, 5)
		cut(w, part{record.TopicCall, 0}, 7)
		if got := first(t, w.verify(w.options())); got != "svc.call/0@7" {
			t.Errorf("found %s", got)
		}
		opts := w.options()
		opts.Leaves = nil
		if got := first(t, w.verify(opts)); got != "svc.call/0@6-8" {
			t.Errorf("without stored leaves found %s", got)
		}
	})
	t.Run("a whole topic is missing", func(t *testing.T) {
		w := busy(t, 2)
		delete(w.records, part{record.TopicAccess, 0})
		if got := first(t, w.verify(w.options())); got != "svc.access/0@0" {
			t.Errorf("found %s", got)
		}
	})
	t.Run("an event topic is missing", func(t *testing.T) {
		w := busy(t, 2)
		delete(w.records, part{eventTopic, 1})
		if got := first(t, w.verify(w.options())); got != eventTopic+"/1@0" {
			t.Errorf("found %s", got)
		}
	})
	t.Run("all of it was rolled back, which only an outside checkpoint shows", func(t *testing.T) {
		w := busy(t, 5)
		for p, records := range w.records {
			keep := len(records) * 3 / 6
			if p.topic == record.TopicCheckpoint {
				keep = 3
			}
			cut(w, p, keep)
		}
		opts := w.options()
		if report := w.verify(opts); len(report.Differences) != 0 || !strings.Contains(text(t, report), "Rollback not checked") {
			t.Errorf("without an outside checkpoint:\n%s", text(t, report))
		}
		opts.Outside, opts.Leaves = w.newest, nil
		if got := first(t, w.verify(opts)); got != "svc.command/0@12" {
			t.Errorf("found %s", got)
		}
	})
}

func TestOnlyThePinnedKeySigns(t *testing.T) {
	t.Run("checkpoints of another key", func(t *testing.T) {
		w := busy(t, 3)
		p := part{record.TopicCheckpoint, 0}
		w.signer, _ = newSigner(t, w.key.Name())
		w.records[p][1].Value = w.sign(w.signer)
		if got := first(t, w.verify(w.options())); got != "svc.checkpoint/0@1" {
			t.Errorf("found %s", got)
		}
	})
	t.Run("a checkpoint of another log", func(t *testing.T) {
		w, other := busy(t, 3), busy(t, 3)
		opts := w.options()
		opts.Outside = other.newest
		if _, err := verify.Run(t.Context(), w, opts); err == nil || !strings.Contains(err.Error(), "outside checkpoint") {
			t.Errorf("an outside checkpoint of another key: %v", err)
		}
	})
	t.Run("a checkpoint that is later and smaller", func(t *testing.T) {
		w := newWorld(t)
		w.round(0)
		early := map[part]*proof.Tree{}
		for p, tree := range w.trees {
			clone := tree.Clone()
			early[p] = &clone
		}
		w.checkpoint()
		w.round(1)
		w.checkpoint()
		w.pass(time.Second)
		w.trees = early
		w.checkpoint() // of an instance that was a little behind
		if report := w.verify(w.options()); len(report.Differences) != 0 {
			t.Errorf("instances that sign at once:\n%s", text(t, report))
		}
		w.pass(time.Hour)
		w.checkpoint()
		if got := first(t, w.verify(w.options())); got != "svc.checkpoint/0@3" {
			t.Errorf("found %s", got)
		}
	})
}

func TestCheckpointsInAnotherOrderAreNamed(t *testing.T) {
	p := part{record.TopicCheckpoint, 0}
	for name, tc := range map[string]struct {
		do   func(records []record.Record) []record.Record
		want string
	}{
		"two in each other's place": {func(records []record.Record) []record.Record {
			records[1], records[3] = records[3], records[1]
			return records
		}, "svc.checkpoint/0@2"},
		"an older one at the end": {func(records []record.Record) []record.Record {
			return append(records, records[1])
		}, "svc.checkpoint/0@5"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for n := range 5 {
				w.round(n)
				w.checkpoint()
				w.pass(2 * time.Minute)
			}
			w.records[p] = renumbered(tc.do(slices.Clone(w.records[p])))
			if got := first(t, w.verify(w.options())); got != tc.want {
				t.Errorf("found %s, want %s", got, tc.want)
			}
		})
	}
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	w := busy(t, 5)
	opts := w.options()
	opts.Leaves = nil
	log := flawed{w, record.Position{Topic: record.TopicCommand, Offset: 9}}
	report, err := verify.Run(t.Context(), log, opts)
	if err != nil {
		t.Fatal(err)
	}
	if got := first(t, report); got != "svc.command/0@9" || len(report.Differences) != 1 {
		t.Errorf("found %s:\n%s", got, text(t, report))
	}
}

// flawed is a world in which a partition can be read up to a position only.
type flawed struct {
	*world
	at record.Position
}

func (f flawed) Read(ctx context.Context, topics map[string][]record.Bounds, visit func([]record.Record) error) ([]verify.Flaw, error) {
	bounds, asked := topics[f.at.Topic]
	if !asked || bounds[f.at.Partition].End <= f.at.Offset {
		return f.world.Read(ctx, topics, visit)
	}
	topics = maps.Clone(topics)
	topics[f.at.Topic] = slices.Clone(bounds)
	topics[f.at.Topic][f.at.Partition].End = f.at.Offset
	_, err := f.world.Read(ctx, topics, visit)
	return []verify.Flaw{{At: f.at, Reason: "the checksum does not fit"}}, err
}
