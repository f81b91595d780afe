package kafka_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/transport/kafka"
)

func TestNeighboursAreReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, event, 1)
	const n = 20
	// What lingers together becomes one batch.
	client, err := kgo.NewClient(kgo.SeedBrokers(w.cluster.ListenAddrs()...), w.dial, kgo.ProducerLinger(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: event, Value: []byte(strconv.Itoa(i))}
	}
	if err := client.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	near, err := kafka.NewNear(w.log)
	if err != nil {
		t.Fatal(err)
	}
	fetches := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Observe: true, Count: -1})
	check := func(offset int64) {
		r, err := near.ReadAt(t.Context(), position(event, 0, offset))
		if err != nil || string(r.Value) != strconv.FormatInt(offset, 10) || r.Offset != offset {
			t.Errorf("at %d is %q, %v", offset, r.Value, err)
		}
	}
	check(0)
	var all sync.WaitGroup
	for i := range int64(n) {
		all.Go(func() { check(i) })
	}
	all.Wait()
	if hits := fetches.Hits(); hits != 1 {
		t.Errorf("%d fetches for one batch", hits)
	}

	w.append(t, event, 1) // a batch of its own
	if r, err := near.ReadAt(t.Context(), position(event, 0, n)); err != nil || string(r.Value) != "0" {
		t.Errorf("behind the batch is %q, %v", r.Value, err)
	}
	var out *kafka.RangeError
	if _, err := near.ReadAt(t.Context(), position(event, 0, n+1)); !errors.As(err, &out) {
		t.Errorf("beyond the end: %v", err)
	}
}
