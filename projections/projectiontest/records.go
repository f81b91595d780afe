package projectiontest

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

func (c Contract) parks(t *testing.T) {
	log, bad := c.log(t, c.History[:c.middle()]), c.undecodable()
	broken, unknown := log.Append(bad[0]), log.Append(bad[1])
	log.Append(c.History[c.middle():]...)
	s := OpenStore(t)
	p := c.make(t, s)
	f := start(t, p, s, log)
	f.catchUp()
	f.end()
	if got := f.Parked(); got != 2 {
		t.Errorf("%d records are counted as parked, want 2", got)
	}
	reasons := map[string]string{}
	err := s.Scan(store.Key("parked", p.Name(), ""), nil, func(key, reason []byte) bool {
		reasons[string(key)] = string(reason)
		return true
	})
	if err != nil || len(reasons) != 2 {
		t.Fatalf("%d rows say what is parked, want 2: %q, %v", len(reasons), reasons, err)
	}
	reasonOf := func(at record.Position) string {
		where := store.Ordered(uint64(at.Partition)) + store.Ordered(uint64(at.Offset))
		return reasons[string(store.Key("parked", p.Name(), at.Topic, where))]
	}
	if reasonOf(broken) == "" {
		t.Errorf("no reason is given for %s", broken)
	}
	if !strings.Contains(reasonOf(unknown), unknownType) {
		t.Errorf("the reason for %s does not name its type: %q", unknown, reasonOf(unknown))
	}

	t.Run("without changing a row of the projection", func(t *testing.T) {
		if c.TellsOfParked {
			t.Skip("it tells of them itself")
		}
		without := c.fold(t, vfs.NewMem(), c.log(t, c.History))
		with := c.fold(t, vfs.NewMem(), c.log(t, append(slices.Clone(c.History), bad...)))
		if diff := cmp.Diff(ownRows(without), ownRows(with)); diff != "" {
			t.Errorf("rows differ (-without +with parked records):\n%s", diff)
		}
	})
}

func ownRows(dump string) []string {
	return slices.DeleteFunc(strings.Split(dump, "\n"), isBookkeeping)
}

// newerReaders gives a fold three records at once, of which it may take the first.
func (c Contract) newerReaders(t *testing.T) {
	first := c.History[c.middle()]
	newer, third := first, first
	level := strconv.Itoa(record.ReaderLevel + 1)
	newer.Headers = append(slices.Clone(first.Headers), record.Header{Key: record.HeaderMinReader, Value: []byte(level)})

	log := c.log(t, c.History[:c.middle()+1])
	want := c.fold(t, vfs.NewMem(), log)

	fs, log := vfs.NewMem(), c.log(t, c.History[:c.middle()])
	c.fold(t, fs, log)
	log.Append(first)
	at := log.Append(newer)
	log.Append(third)
	stopped, dump := c.stop(t, fs, log, nil)
	if stopped.At != at || !strings.Contains(stopped.Reason, "level "+level) || stopped.Hint == "" {
		t.Errorf("stopped with %+v, want it at %s because of level %s, with a hint", stopped, at, level)
	}
	if diff := cmp.Diff(want, dump); diff != "" {
		t.Errorf("rows differ (-up to the record +when stopped):\n%s", diff)
	}
}

// tellsAfterCommit watches the order of fold, commit, publication and notice.
func (c Contract) tellsAfterCommit(t *testing.T) {
	s := OpenStore(t)
	log := c.log(t, nil)
	w := &witness{Projection: c.make(t, s), t: t, store: s}
	f := start(t, w, s, log)
	for i, r := range c.History {
		f.reach(log.Append(r))
		if told := w.told.Load(); told != int64(i+1) {
			t.Errorf("%d of %d folds had been published when Wait returned", told, i+1)
		}
	}
	f.end()
}

// witness is a projection that is watched while records are folded one by one.
type witness struct {
	fold.Projection
	t     *testing.T
	store *store.Store
	told  atomic.Int64
}

func (w *witness) Fold(b *fold.Batch, records []record.Record) (func(), error) {
	before := w.rows()
	committed, err := w.Projection.Fold(b, records)
	if w.rows() != before {
		w.t.Errorf("the fold of %s wrote outside of its batch", records[0].Position)
	}
	return func() {
		if w.rows() == before {
			w.t.Errorf("the fold of %s was published before its commit", records[0].Position)
		}
		if committed != nil {
			committed()
		}
		w.told.Add(1)
	}, err
}

// rows is Dump for other goroutines than the test's.
func (w *witness) rows() string {
	var text strings.Builder
	if err := w.store.Dump(&text); err != nil {
		w.t.Error(err)
	}
	return text.String()
}
