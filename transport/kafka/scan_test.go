package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

func TestAScanReadsEverythingOnceAndInOrder(t *testing.T) {
	w := newWorld(t)
	topics := []string{record.TopicAccess, record.TopicCall, record.TopicCommand}
	for _, topic := range topics {
		w.topic(t, topic, 3)
		for i := range 30 {
			r := record.Record{Position: record.Position{Topic: topic, Partition: int32(i % 2)}, Time: time.Now(), Value: fmt.Append(nil, i)}
			if _, err := w.log.AppendWait(t.Context(), &r); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.topic(t, event, 1)
	w.expire(t, record.TopicAccess, 4)

	names, err := w.log.Topics(t.Context(), "svc.c")
	if err != nil || !slices.Equal(names, topics[1:]) {
		t.Fatal(names, err)
	}
	bounds, err := w.log.BoundsOf(t.Context(), topics...)
	if err != nil {
		t.Fatal(err)
	}
	if want := []record.Bounds{{Start: 4, End: 15}, {End: 15}, {}}; !slices.Equal(bounds[record.TopicAccess], want) {
		t.Fatalf("bounds %v, want %v", bounds[record.TopicAccess], want)
	}
	bounds[record.TopicCall][1].End = 9 // what comes later is not asked for
	next := map[record.Position]int64{{Topic: record.TopicAccess}: 4}
	err = w.log.Scan(t.Context(), bounds, func(run []record.Record) error {
		for _, r := range run {
			p := record.Position{Topic: r.Topic, Partition: r.Partition}
			if want := fmt.Sprint(2*r.Offset + int64(r.Partition)); r.Offset != next[p] || string(r.Value) != want {
				t.Errorf("%s holds %q; offset %d was next", r.Position, r.Value, next[p])
			}
			next[p]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for topic, partitions := range bounds {
		for i, b := range partitions {
			if got := next[record.Position{Topic: topic, Partition: int32(i)}]; got != b.End {
				t.Errorf("%s/%d was read up to %d of %d", topic, i, got, b.End)
			}
		}
	}
}

func TestAScanNamesTheOffsetThatHoldsNoRecord(t *testing.T) {
	for name, after := range map[string]int{"within the log": 1, "at its end": 0} {
		for at, start := range map[string]int64{"behind records": 0, "first of all that is asked for": 3} {
			t.Run(name+", "+at, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.topic(t, record.TopicCommand, 1)
				w.append(t, record.TopicCommand, 2)
				w.transaction(t, record.TopicCommand)
				w.append(t, record.TopicCommand, after)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var got int64
				err := w.log.Scan(ctx, map[string][]record.Bounds{record.TopicCommand: {{Start: start, End: int64(4 + after)}}}, func(run []record.Record) error {
					if len(run) == 0 {
						t.Error("a run of no record was handed on")
					}
					got += int64(len(run))
					return nil
				})
				var gap *kafka.GapError
				if !errors.As(err, &gap) || gap.Want != position(record.TopicCommand, 0, 3) || gap.Have != 4 || got != 3-start {
					t.Errorf("error %v after %d records", err, got)
				}
			})
		}
	}
}

func TestAScanEndsWithTheReason(t *testing.T) {
	w := newWorld(t)
	w.topic(t, event, 1)
	w.append(t, event, 10)
	none := func([]record.Record) error { return nil }
	t.Run("what its caller says", func(t *testing.T) {
		enough := errors.New("enough")
		err := w.log.Scan(t.Context(), map[string][]record.Bounds{event: {{End: 10}}}, func([]record.Record) error { return enough })
		if !errors.Is(err, enough) {
			t.Error(err)
		}
	})
	t.Run("what is asked for has expired", func(t *testing.T) {
		w.expire(t, event, 5)
		var out *kafka.RangeError
		if err := w.log.Scan(t.Context(), map[string][]record.Bounds{event: {{Start: 2, End: 10}}}, none); !errors.As(err, &out) || !out.Below() {
			t.Error(err)
		}
	})
	t.Run("more is asked for than there is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.topic(t, event, 1)
			w.append(t, event, 10)
			err := w.log.Scan(t.Context(), map[string][]record.Bounds{event: {{End: 11}}}, none)
			if err == nil || !strings.Contains(err.Error(), event+"/0@10") {
				t.Error(err)
			}
		})
	})
	t.Run("nothing is asked for", func(t *testing.T) {
		if err := w.log.Scan(t.Context(), map[string][]record.Bounds{event: {{Start: 5, End: 5}}}, none); err != nil {
			t.Error(err)
		}
	})
	t.Run("a topic is missing", func(t *testing.T) {
		if _, err := w.log.BoundsOf(t.Context(), event, "svc.other"); !kafka.MissesTopic(err) {
			t.Error(err)
		}
	})
}
