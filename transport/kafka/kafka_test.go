package kafka_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const event = record.EventTopicPrefix + "webhook.demo"

// world is a broker, a Log on it, and an administrator who does behind the
// Log's back what operators do.
type world struct {
	cluster *kfake.Cluster
	log     *kafka.Log
	admin   *kadm.Client
	dial    kgo.Opt
}

func newWorld(t *testing.T, adjust ...func(*kafka.Config)) world {
	t.Helper()
	network := new(kfake.VirtualNetwork)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ListenFn(network.Listen))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	cfg := kafka.Config{
		Brokers:  cluster.ListenAddrs(),
		Dialer:   network.DialContext,
		ClientID: "test",
		Log:      slog.New(slog.DiscardHandler),
	}
	for _, f := range adjust {
		f(&cfg)
	}
	log, err := kafka.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	dial := kgo.Dialer(network.DialContext)
	client, err := kgo.NewClient(kgo.SeedBrokers(cfg.Brokers...), dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return world{cluster: cluster, log: log, admin: kadm.NewClient(client), dial: dial}
}

func (w *world) topic(t *testing.T, name string, partitions int32) kafka.TopicInfo {
	t.Helper()
	info, err := w.log.EnsureTopic(t.Context(), kafka.TopicSpec{Name: name, Partitions: partitions, Replication: 1})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// append puts n records with the values "0", "1", … on partition 0.
func (w *world) append(t *testing.T, topic string, n int) {
	t.Helper()
	for i := range n {
		r := record.Record{Position: record.Position{Topic: topic}, Time: time.Now(), Value: fmt.Append(nil, i)}
		if _, err := w.log.AppendWait(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) tail(t *testing.T, at record.Position) *kafka.Tail {
	t.Helper()
	tail, err := w.log.Tail(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tail.Close)
	return tail
}

// expire deletes the records of partition 0 before an offset.
func (w *world) expire(t *testing.T, topic string, before int64) {
	t.Helper()
	offsets := make(kadm.Offsets)
	offsets.AddOffset(topic, 0, before, -1)
	answers, err := w.admin.DeleteRecords(t.Context(), offsets)
	if err == nil {
		err = answers.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) deleteTopic(t *testing.T, topic string) {
	t.Helper()
	answer, err := w.admin.DeleteTopic(t.Context(), topic)
	if err == nil {
		err = answer.Err
	}
	if err != nil {
		t.Fatal(err)
	}
}

// read takes n records off the tail.
func read(ctx context.Context, t *testing.T, tail *kafka.Tail, n int) []record.Record {
	t.Helper()
	var all []record.Record
	for len(all) < n {
		batch, err := tail.Next(ctx)
		if err != nil {
			t.Fatalf("after %d records: %v", len(all), err)
		}
		all = append(all, batch...)
	}
	return all
}

func position(topic string, partition int32, offset int64) record.Position {
	return record.Position{Topic: topic, Partition: partition, Offset: offset}
}

func diff(want, have any) string {
	return cmp.Diff(want, have, cmp.Comparer(bytes.Equal))
}
