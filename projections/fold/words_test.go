package fold_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/store"
)

const topic = "svc.word"

// words is the smallest projection: a row a key, with all its values in order.
type words struct {
	store *store.Store

	mu      sync.Mutex
	batches []int
	// fails, when set, is how Fold ends.
	fails error
}

func newWords(s *store.Store) *words { return &words{store: s} }

func (*words) Name() string  { return "words" }
func (*words) Topic() string { return topic }
func (*words) Schema() int   { return 1 }

func (w *words) Fold(b *fold.Batch, records []record.Record) (func(), error) {
	for i := range records {
		if err := w.apply(b, &records[i]); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.batches = append(w.batches, len(records))
	return nil, w.fails
}

func (w *words) apply(b *fold.Batch, r *record.Record) error {
	if kind := r.Header(record.HeaderType); kind != "word/1" {
		return b.Park(r.Position, fmt.Errorf("type %q is unknown", kind))
	}
	if string(r.Value) == "{" {
		return b.Park(r.Position, errors.New("no word"))
	}
	key := store.Key("words", string(r.Key))
	value, _, err := b.Get(key)
	if err != nil {
		return err
	}
	return b.Set(key, append(append(value, ' '), r.Value...))
}

// row is what has been folded of a key.
func (w *words) row(t *testing.T, key string) string {
	t.Helper()
	value, _, err := w.store.Get(store.Key("words", key))
	if err != nil {
		t.Fatal(err)
	}
	return string(value)
}

func word(partition int32, key, value string) record.Record {
	return record.Record{
		Position: record.Position{Topic: topic, Partition: partition},
		Time:     time.UnixMilli(1),
		Key:      []byte(key),
		Headers:  []record.Header{{Key: record.HeaderType, Value: []byte("word/1")}},
		Value:    []byte(value),
	}
}

func TestWordsAreAProjection(t *testing.T) {
	projectiontest.Run(t, projectiontest.Contract{
		New: func(s *store.Store) (fold.Projection, error) { return newWords(s), nil },
		History: []record.Record{
			word(0, "a", "1"), word(1, "b", "1"), word(0, "a", "1"), word(0, "c", "2"), word(1, "b", "2"),
			word(1, "d", "3"), word(0, "a", "4"), word(1, "b", "5"), word(1, "b", "5"), word(0, "e", "6"),
		},
	})
}
