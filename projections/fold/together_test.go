package fold_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/store"
)

// lengths is a second view of the topic: how long the last value of a key is.
type lengths struct {
	*words
	told atomic.Int64
}

func (*lengths) Name() string { return "lengths" }
func (*lengths) Schema() int  { return 3 }

func (l *lengths) Fold(b *fold.Batch, records []record.Record) (func(), error) {
	for i := range records {
		r := &records[i]
		var err error
		if r.Header(record.HeaderType) != "word/1" || string(r.Value) == "{" {
			err = b.Park(r.Position, fmt.Errorf("no word: type %q", r.Header(record.HeaderType)))
		} else {
			err = b.Set(store.Key("lengths", string(r.Key)), []byte(strconv.Itoa(len(r.Value))))
		}
		if err != nil {
			return nil, err
		}
	}
	return func() { l.told.Add(int64(len(records))) }, l.fails
}

func both(s *store.Store) (*words, *lengths, fold.Projection) {
	w, l := newWords(s), &lengths{words: newWords(s)}
	return w, l, fold.Together("both", w, l)
}

func TestTogetherIsAProjection(t *testing.T) {
	projectiontest.Run(t, projectiontest.Contract{
		New: func(s *store.Store) (fold.Projection, error) { _, _, p := both(s); return p, nil },
		History: []record.Record{
			word(0, "a", "1"), word(1, "b", "10"), word(0, "a", "100"), word(0, "c", "2"), word(1, "b", "2"),
			word(1, "d", "3"), word(0, "a", "4"), word(1, "b", "5"), word(1, "b", "55"), word(0, "e", "6"),
		},
	})
}

func TestTogetherFoldsEveryRecordIntoEach(t *testing.T) {
	s, log := projectiontest.OpenStore(t), projectiontest.NewLog(topic, 1)
	w, l, p := both(s)
	r := projectiontest.Start(t, p, s, log)
	log.Append(word(0, "a", "seven77"))
	broken := word(0, "x", "1")
	broken.Headers = nil
	log.Append(broken)
	if err := r.Wait(t.Context(), log.Append(word(0, "a", "ok"))); err != nil {
		t.Fatal(err)
	}
	length, _, err := s.Get(store.Key("lengths", "a"))
	if got := w.row(t, "a"); err != nil || got != " seven77 ok" || string(length) != "2" || l.told.Load() != 3 {
		t.Errorf("words %q, length %q, told of %d: %v", got, length, l.told.Load(), err)
	}
	if r.Parked() != 1 {
		t.Errorf("%d records are parked that neither can decode, want 1", r.Parked())
	}
}

func TestOneThatFailsStopsThemAll(t *testing.T) {
	s, log := projectiontest.OpenStore(t), projectiontest.NewLog(topic, 1)
	w, l, p := both(s)
	l.fails = errors.New("no more room")
	log.Append(word(0, "a", "1"))
	err := fold.NewRunner(p, s, log, quiet).Paced(time.Millisecond).Run(t.Context())
	if !errors.Is(err, l.fails) || w.row(t, "a") != "" {
		t.Errorf("ended with %v, and %q was kept of the other", err, w.row(t, "a"))
	}
}

func TestAChangeOfOneSchemaFoldsAllAgain(t *testing.T) {
	_, _, p := both(nil)
	if p.Schema() == fold.Together("both", newWords(nil), newWords(nil)).Schema() {
		t.Error("another schema of one of them is not told from before")
	}
}
