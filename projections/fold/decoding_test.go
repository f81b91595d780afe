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

// decodeWord gives the text of a word.
func decodeWord(r *record.Record) (string, error) {
	if kind := r.Header(record.HeaderType); kind != "word/1" || string(r.Value) == "{" {
		return "", fmt.Errorf("no word: type %q", kind)
	}
	return string(r.Value), nil
}

// texts is a view of words: all texts of a key in order.
type texts struct {
	store *store.Store
	fails error
}

func (*texts) Schema() int { return 1 }

func (v *texts) Fold(b *fold.Batch, records []fold.Decoded[string]) (func(), error) {
	for _, r := range records {
		key := store.Key("texts", string(r.Key))
		value, _, err := b.Get(key)
		if err != nil {
			return nil, err
		}
		if err := b.Set(key, append(append(value, ' '), r.Value...)); err != nil {
			return nil, err
		}
	}
	return nil, v.fails
}

func (v *texts) row(t *testing.T, key string) string {
	t.Helper()
	value, _, err := v.store.Get(store.Key("texts", key))
	if err != nil {
		t.Fatal(err)
	}
	return string(value)
}

// sizes is another: how long the last text of a key is.
type sizes struct {
	schema int
	told   atomic.Int64
	fails  error
}

func (l *sizes) Schema() int { return l.schema }

func (l *sizes) Fold(b *fold.Batch, records []fold.Decoded[string]) (func(), error) {
	for _, r := range records {
		if err := b.Set(store.Key("sizes", string(r.Key)), []byte(strconv.Itoa(len(r.Value)))); err != nil {
			return nil, err
		}
	}
	return func() { l.told.Add(int64(len(records))) }, l.fails
}

func twoViews(s *store.Store) (*texts, *sizes, fold.Projection) {
	w, l := &texts{store: s}, &sizes{schema: 3}
	return w, l, fold.Decoding("both", topic, decodeWord, w, l)
}

func TestViewsOfOneTopicAreAProjection(t *testing.T) {
	projectiontest.Run(t, projectiontest.Contract{
		New: func(s *store.Store) (fold.Projection, error) { _, _, p := twoViews(s); return p, nil },
		History: []record.Record{
			word(0, "a", "1"), word(1, "b", "10"), word(0, "a", "100"), word(0, "c", "2"), word(1, "b", "2"),
			word(1, "d", "3"), word(0, "a", "4"), word(1, "b", "5"), word(1, "b", "55"), word(0, "e", "6"),
		},
	})
}

func TestEveryRecordIsFoldedIntoEachView(t *testing.T) {
	s, log := projectiontest.OpenStore(t), projectiontest.NewLog(topic, 1)
	w, l, p := twoViews(s)
	r := projectiontest.Start(t, p, s, log)
	log.Append(word(0, "a", "seven77"))
	broken := word(0, "x", "1")
	broken.Headers = nil
	log.Append(broken)
	if err := r.Wait(t.Context(), log.Append(word(0, "a", "ok"))); err != nil {
		t.Fatal(err)
	}
	length, _, err := s.Get(store.Key("sizes", "a"))
	if got := w.row(t, "a"); err != nil || got != " seven77 ok" || string(length) != "2" || l.told.Load() != 2 {
		t.Errorf("words %q, length %q, told of %d: %v", got, length, l.told.Load(), err)
	}
	if r.Parked() != 1 {
		t.Errorf("%d records are parked that cannot be decoded, want 1", r.Parked())
	}
}

func TestAViewThatFailsStopsThemAll(t *testing.T) {
	s, log := projectiontest.OpenStore(t), projectiontest.NewLog(topic, 1)
	w, l, p := twoViews(s)
	l.fails = errors.New("no more room")
	log.Append(word(0, "a", "1"))
	err := fold.NewRunner(p, s, log, quiet).Paced(time.Millisecond).Run(t.Context())
	if !errors.Is(err, l.fails) || w.row(t, "a") != "" {
		t.Errorf("ended with %v, and %q was kept of the other", err, w.row(t, "a"))
	}
}

func TestAChangeOfOneViewFoldsAllAgain(t *testing.T) {
	_, l, p := twoViews(nil)
	before := p.Schema()
	if l.schema++; p.Schema() == before {
		t.Error("another schema of one of them is not told from before")
	}
}

func TestARecordIsDecodedOnce(t *testing.T) {
	s, log := projectiontest.OpenStore(t), projectiontest.NewLog(topic, 1)
	var times atomic.Int64
	decode := func(r *record.Record) (string, error) {
		times.Add(1)
		return decodeWord(r)
	}
	r := projectiontest.Start(t, fold.Decoding("both", topic, decode, &texts{store: s}, &sizes{}), s, log)
	if err := r.Wait(t.Context(), log.Append(word(0, "a", "1"), word(0, "a", "2"))); err != nil {
		t.Fatal(err)
	}
	if times.Load() != 2 {
		t.Errorf("two records were decoded %d times", times.Load())
	}
}
