package kafka_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

func TestARecordComesBackAsItWasAppended(t *testing.T) {
	t.Parallel()
	many := make([]record.Header, 40)
	for i := range many {
		many[i] = record.Header{Key: fmt.Sprintf("key-%d", i%3), Value: fmt.Append(nil, i)}
	}
	for name, r := range map[string]record.Record{
		"with key, headers and time": {
			Key: []byte("k"), Value: []byte("v"), Headers: many[:3], Time: time.UnixMilli(1_700_000_000_123).UTC(),
		},
		"with many headers, repeats in order": {Value: []byte("v"), Headers: many, Time: time.UnixMilli(1).UTC()},
		"without anything":                    {Time: time.UnixMilli(2).UTC()},
		"of 8 MiB":                            {Value: bytes.Repeat([]byte("x"), 8<<20), Time: time.UnixMilli(3).UTC()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.topic(t, record.TopicCall, 3)
			r.Position = position(record.TopicCall, 2, 99)
			at, err := w.log.AppendWait(t.Context(), &r)
			if err != nil {
				t.Fatal(err)
			}
			if want := position(record.TopicCall, 2, 0); at != want {
				t.Fatalf("appended at %s, want %s", at, want)
			}
			r.Position = at
			tailed := read(t.Context(), t, w.tail(t, at), 1)
			if d := diff([]record.Record{r}, tailed); d != "" {
				t.Errorf("tailed: %s", d)
			}
			found, err := w.log.ReadAt(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(r, found); d != "" {
				t.Errorf("read at its position: %s", d)
			}
		})
	}
}

func TestAConcurrentReaderFindsEachRecordOfABatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, event, 1)
	const n = 200
	var appended sync.WaitGroup
	appended.Add(n)
	for i := range n {
		r := record.Record{Position: record.Position{Topic: event}, Value: fmt.Append(nil, i)}
		w.log.Append(&r, func(at record.Position, err error) {
			defer appended.Done()
			if err != nil || at.Offset != int64(i) {
				t.Errorf("record %d is at %s: %v", i, at, err)
			}
		})
	}
	appended.Wait()
	var readers sync.WaitGroup
	for reader := range 4 {
		readers.Go(func() {
			for i := reader; i < n; i += 4 {
				r, err := w.log.ReadAt(t.Context(), position(event, 0, int64(i)))
				if err != nil || string(r.Value) != fmt.Sprint(i) {
					t.Errorf("record %d reads %q: %v", i, r.Value, err)
				}
			}
		})
	}
	readers.Wait()
}

func TestEventsSpreadOverThePartitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, event, 4)
	// The partition changes with each 64 KiB; a hundred of them reach every one
	// of four by any choice but a constant one.
	for range 100 {
		r := record.Record{Position: record.Position{Topic: event}, Value: make([]byte, 64<<10)}
		if _, err := w.log.AppendWait(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
	}
	bounds, err := w.log.Bounds(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	for partition, b := range bounds {
		if b.End == 0 {
			t.Errorf("partition %d has none of the events: %v", partition, bounds)
		}
	}
}

func TestBoundsFollowAppendsAndExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, record.TopicCall, 2)
	w.append(t, record.TopicCall, 5)
	w.expire(t, record.TopicCall, 2)
	bounds, err := w.log.Bounds(t.Context(), record.TopicCall)
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Bounds{{Start: 2, End: 5}, {}}
	if !slices.Equal(bounds, want) {
		t.Errorf("bounds are %v, want %v", bounds, want)
	}
}

func TestReadAtFindsAPartitionThatMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, event, 1)
	w.append(t, event, 1)
	moved := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition, Count: 2})
	if r, err := w.log.ReadAt(t.Context(), position(event, 0, 0)); err != nil || string(r.Value) != "0" {
		t.Errorf("it reads %q: %v", r.Value, err)
	}
	if moved.Hits() != 2 {
		t.Errorf("the broker refused %d times", moved.Hits())
	}
}

func TestReadAtOutsideTheLogNamesTheBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, event, 1)
	w.append(t, event, 5)
	w.expire(t, event, 2)
	for offset, below := range map[int64]bool{0: true, 1: true, 5: false, 50: false} {
		_, err := w.log.ReadAt(t.Context(), position(event, 0, offset))
		var out *kafka.RangeError
		if !errors.As(err, &out) {
			t.Fatalf("offset %d: %v", offset, err)
		}
		if out.Start != 2 || out.End != 5 || out.Below() != below {
			t.Errorf("offset %d: %+v, below %t", offset, out, out.Below())
		}
	}
}

func TestWhatDoesNotExistIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, record.TopicCall, 1)
	ctx := t.Context()
	for name, missing := range map[string]func(record.Position) error{
		"a tail":     func(at record.Position) error { _, err := w.log.Tail(ctx, at); return err },
		"a read":     func(at record.Position) error { _, err := w.log.ReadAt(ctx, at); return err },
		"the bounds": func(record.Position) error { _, err := w.log.Bounds(ctx, "none"); return err },
		"a tail of a partition": func(record.Position) error {
			_, err := w.log.Tail(ctx, position(record.TopicCall, 1, 0))
			return err
		},
	} {
		var notThere *kafka.MissingTopicError
		if err := missing(position("none", 0, 0)); !errors.As(err, &notThere) || !kafka.MissesTopic(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheClusterSaysWhoItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.log.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	id, err := w.log.ClusterID(t.Context())
	if err != nil || id == "" {
		t.Errorf("cluster id %q: %v", id, err)
	}
}
