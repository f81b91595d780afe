package metrics

import (
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// kafkaClient measures the Kafka clients of this process, all together. It knows
// neither topics nor brokers: there is a topic for each webhook.
type kafkaClient struct {
	connects      metric.Int64Counter
	connections   metric.Int64UpDownCounter
	requests      metric.Int64Counter
	duration      histogram
	read, written metric.Int64Counter
	throttled     metric.Float64Counter

	connected, failed label
	kinds             []requestKind // by the key of the request
}

type requestKind struct{ all, ok, failed label }

var (
	_ kgo.HookBrokerConnect    = (*kafkaClient)(nil)
	_ kgo.HookBrokerDisconnect = (*kafkaClient)(nil)
	_ kgo.HookBrokerE2E        = (*kafkaClient)(nil)
	_ kgo.HookBrokerThrottle   = (*kafkaClient)(nil)
)

func newKafkaClient(mk *maker) kafkaClient {
	ok, failed := attribute.String("outcome", "ok"), attribute.String("outcome", "failed")
	k := kafkaClient{
		connects:    mk.counter("hooklog_kafka_connects_total", "Connections to brokers that were tried."),
		connections: mk.upDown("hooklog_kafka_connections", "Connections to brokers that are open."),
		requests:    mk.counter("hooklog_kafka_requests_total", "Requests to brokers."),
		duration:    mk.histogram("hooklog_kafka_request_duration_seconds", "How long brokers took to answer; a fetch waits for records."),
		read:        mk.counter("hooklog_kafka_read_bytes_total", "Bytes read from brokers."),
		written:     mk.counter("hooklog_kafka_written_bytes_total", "Bytes written to brokers."),
		throttled:   mk.seconds("hooklog_kafka_throttled_seconds_total", "How long brokers made this process wait."),
		connected:   labelled(ok), failed: labelled(failed),
	}
	k.throttled.Add(background, 0)
	for key := range int16(kmsg.MaxKey + 1) {
		request := attribute.String("request", kmsg.NameForKey(key))
		k.kinds = append(k.kinds, requestKind{labelled(request), labelled(request, ok), labelled(request, failed)})
	}
	return k
}

// Kafka is the hook for the clients.
func (m *Metrics) Kafka() kgo.Hook { return &m.kafka }

func (k *kafkaClient) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		k.connects.Add(background, 1, k.failed.add...)
		return
	}
	k.connects.Add(background, 1, k.connected.add...)
	k.connections.Add(background, 1)
}

func (k *kafkaClient) OnBrokerDisconnect(kgo.BrokerMetadata, net.Conn) {
	k.connections.Add(background, -1)
}

func (k *kafkaClient) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	k.written.Add(background, int64(e2e.BytesWritten))
	k.read.Add(background, int64(e2e.BytesRead))
	if key < 0 || int(key) >= len(k.kinds) {
		return
	}
	kind := &k.kinds[key]
	if e2e.Err() != nil {
		k.requests.Add(background, 1, kind.failed.add...)
		return
	}
	k.requests.Add(background, 1, kind.ok.add...)
	k.duration.take(e2e.DurationE2E(), kind.all.record)
}

func (k *kafkaClient) OnBrokerThrottle(_ kgo.BrokerMetadata, d time.Duration, _ bool) {
	k.throttled.Add(background, d.Seconds())
}
