package kafka_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
)

// BenchmarkTwoAppends is what a receive call costs the log: the event, and when
// it is there the accepted record, from 64 callers at once. One operation is
// one call.
func BenchmarkTwoAppends(b *testing.B) {
	for name, sync := range map[string]bool{"synced": true, "unsynced": false} {
		b.Run(name, func(b *testing.B) { benchmarkTwoAppends(b, sync) })
	}
}

func benchmarkTwoAppends(b *testing.B, sync bool) {
	broker, err := embedded.Open(embedded.Config{Dir: b.TempDir(), Sync: sync, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(broker.Close)
	log, err := kafka.Open(kafka.Config{
		Brokers: broker.Addrs(), Dialer: broker.DialContext, ClientID: "bench", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(log.Close)
	topics := kafka.NewEventTopics(log, kafka.TopicSpec{Partitions: 1, Replication: 1})
	if _, err := log.EnsureTopic(b.Context(), kafka.TopicSpec{Name: record.TopicCall, Partitions: 1, Replication: 1}); err != nil {
		b.Fatal(err)
	}
	headers := make([]record.Header, 10)
	for i := range headers {
		headers[i] = record.Header{Key: "ce_header", Value: []byte("some-value")}
	}
	event := []byte(strings.Repeat("e", 1024))
	accepted := []byte(strings.Repeat("a", 400))

	b.ReportAllocs()
	b.SetParallelism(32) // callers for each of two processors
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			call := record.Record{
				Position: record.Position{Topic: record.EventTopic("webhook.bench")},
				Time:     time.Now(), Headers: headers, Value: event,
			}
			if _, err := topics.AppendHeld(b.Context(), &call, func() {}); err != nil {
				b.Error(err)
				return
			}
			call = record.Record{Position: record.Position{Topic: record.TopicCall}, Time: time.Now(), Value: accepted}
			if _, err := log.AppendWait(b.Context(), &call); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
