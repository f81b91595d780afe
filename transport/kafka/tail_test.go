package kafka_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

func TestATailStartsInTheMiddleAndFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	info := w.topic(t, record.TopicCommand, 1)
	w.append(t, record.TopicCommand, 5)
	tail := w.tail(t, position(record.TopicCommand, 0, 3))
	if tail.TopicID() != info.ID || info.ID == (kafka.TopicID{}) {
		t.Errorf("the tail is of topic %x, want %x", tail.TopicID(), info.ID)
	}
	have := read(t.Context(), t, tail, 2)
	w.append(t, record.TopicCommand, 3)
	have = append(have, read(t.Context(), t, tail, 3)...)
	for i, value := range []string{"3", "4", "0", "1", "2"} {
		if string(have[i].Value) != value || have[i].Offset != int64(3+i) {
			t.Errorf("record %d is %q at %s", i, have[i].Value, have[i].Position)
		}
	}
}

func TestATailAtTheEndWaitsForTheNextRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.topic(t, record.TopicCommand, 1)
		w.append(t, record.TopicCommand, 1)
		tail := w.tail(t, position(record.TopicCommand, 0, 1))

		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan error)
		go func() {
			_, err := tail.Next(ctx)
			waiting <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled wait ends with %v", err)
		}

		w.append(t, record.TopicCommand, 1)
		if have := read(t.Context(), t, tail, 1); have[0].Offset != 1 {
			t.Errorf("after the cancelled wait comes %s", have[0].Position)
		}
	})
}

func TestATailGoesOnAfterTroubleWithTheBroker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.topic(t, record.TopicCommand, 1)
		w.append(t, record.TopicCommand, 2)
		tail := w.tail(t, position(record.TopicCommand, 0, 0))
		read(t.Context(), t, tail, 2)

		for range 3 { // each ends a connection
			w.cluster.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
				return nil, errors.New("broken"), true
			})
		}
		moved := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition, Count: 3})
		missed := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.UnknownTopicID, Count: 8})
		w.append(t, record.TopicCommand, 1)
		if have := read(t.Context(), t, tail, 1); have[0].Offset != 2 {
			t.Errorf("after the trouble comes %s", have[0].Position)
		}
		if moved.Hits() != 3 || missed.Hits() != 8 {
			t.Errorf("there were %d and %d troubles", moved.Hits(), missed.Hits())
		}
	})
}

func TestATailOutsideTheLogNamesTheBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		offset int64
		below  bool
	}{
		"below the start":    {1, true},
		"negative":           {-1, true},
		"beyond the end":     {9, false},
		"one beyond the end": {6, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.topic(t, record.TopicAccess, 1)
				w.append(t, record.TopicAccess, 5)
				w.expire(t, record.TopicAccess, 2)
				tail, err := w.log.Tail(t.Context(), position(record.TopicAccess, 0, c.offset))
				for range 2 { // the error stays
					if tail != nil {
						_, err = tail.Next(t.Context())
					}
					var out *kafka.RangeError
					if !errors.As(err, &out) || out.Start != 2 || out.End != 5 || out.Below() != c.below {
						t.Errorf("error %v", err)
					}
				}
				if tail != nil {
					tail.Close()
				}
			})
		})
	}
}

func TestATailStopsWhenTheTopicIsRecreated(t *testing.T) {
	t.Parallel()
	for name, refill := range map[string]int{"empty": 0, "with more records than before": 5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				before := w.topic(t, record.TopicCommand, 1)
				w.append(t, record.TopicCommand, 3)
				tail := w.tail(t, position(record.TopicCommand, 0, 0))
				read(t.Context(), t, tail, 3)

				w.deleteTopic(t, record.TopicCommand)
				after := w.topic(t, record.TopicCommand, 1)
				other, err := kgo.NewClient(kgo.SeedBrokers(w.cluster.ListenAddrs()...), w.dial)
				if err != nil {
					t.Fatal(err)
				}
				for range refill {
					if err := other.ProduceSync(t.Context(), &kgo.Record{Topic: record.TopicCommand}).FirstErr(); err != nil {
						t.Fatal(err)
					}
				}
				other.Close()

				_, err = tail.Next(t.Context())
				var recreated *kafka.RecreatedError
				if !errors.As(err, &recreated) || recreated.Want != before.ID || recreated.Have != after.ID {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// transaction appends a record as a foreign producer does in a transaction. The
// mark that ends it takes an offset and is no record.
func (w *world) transaction(t *testing.T, topic string) {
	t.Helper()
	foreign, err := kgo.NewClient(kgo.SeedBrokers(w.cluster.ListenAddrs()...), w.dial, kgo.TransactionalID("foreign"))
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	if err := foreign.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := foreign.ProduceSync(t.Context(), &kgo.Record{Topic: topic}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := foreign.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
}

func TestATailStopsAtAGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, record.TopicCommand, 1)
	w.append(t, record.TopicCommand, 2)
	w.transaction(t, record.TopicCommand)
	w.append(t, record.TopicCommand, 1)

	tail := w.tail(t, position(record.TopicCommand, 0, 0))
	read(t.Context(), t, tail, 3)
	_, err := tail.Next(t.Context())
	var gap *kafka.GapError
	if !errors.As(err, &gap) || gap.Want != position(record.TopicCommand, 0, 3) || gap.Have != 4 {
		t.Errorf("error %v", err)
	}
}

func TestAClosedTailEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, record.TopicCommand, 1)
	tail := w.tail(t, position(record.TopicCommand, 0, 0))
	ended := make(chan error)
	go func() {
		_, err := tail.Next(t.Context())
		ended <- err
	}()
	tail.Close()
	if err := <-ended; !errors.Is(err, kgo.ErrClientClosed) {
		t.Errorf("error %v", err)
	}
}
