package fold_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
)

func TestAFoldTellsWhatItFoldedSinceTheStart(t *testing.T) {
	w, log := newWords(projectiontest.OpenStore(t)), projectiontest.NewLog(topic, 2)
	for n := range 3 {
		log.Append(word(0, "old "+strconv.Itoa(n), "x"))
	}
	type told struct {
		records []record.Record
		began   time.Time
	}
	heard := make(chan told, 10)
	r := fold.NewRunner(w, w.store, log, quiet).Traced(func(records []record.Record, began time.Time) { heard <- told{records, began} })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	<-r.Running()
	before := time.Now()
	for partition := range int32(2) {
		at := log.Append(word(partition, "new", "x"))
		got := <-heard
		if len(got.records) != 1 || got.records[0].Position != at || got.began.Before(before) {
			t.Errorf("told of %v since %s, want %s alone", got.records, got.began, at)
		}
		if row := w.row(t, "new"); row == "" {
			t.Error("told before the commit")
		}
	}
	cancel()
	<-ended
	if len(heard) > 0 {
		t.Errorf("told of %d batches more", len(heard))
	}
}
