// Package kafka is hooklog's way to the log: append, tail a partition, read at
// a position, share partitions in a group, ask for bounds, create and verify
// topics. It knows records, not what they mean, and treats an embedded broker
// like any other one: only the dialer differs. It deliberately has no
// transactions and no automatic topics, and it never moves a reader by itself:
// whatever makes a tail doubtful is an error. Only cmd imports it.
package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/plugin/kslog"

	"hooklog/domain/record"
)

const (
	// maxMessageBytes is the max.message.bytes of every topic: an event
	// message has at most 8 MiB, and its headers and framing fit beside it.
	maxMessageBytes = 10 << 20
	// maxBatchBytes stays below maxMessageBytes, so that no batch is refused.
	maxBatchBytes = maxMessageBytes - 64<<10

	defaultBufferBytes = 256 << 20

	// metadataMinAge bounds how long a moved leader or a new topic is missed.
	metadataMinAge = 250 * time.Millisecond

	// retryPause lies between two tries of a request that this package repeats.
	retryPause = 50 * time.Millisecond
)

// Config says where the log is and how to speak to it.
type Config struct {
	Brokers []string
	// TLS is nil for connections in the clear.
	TLS *tls.Config
	// SASL is nil where the brokers ask for no authentication.
	SASL sasl.Mechanism
	// Dialer replaces TCP; an embedded broker is reached by its own network.
	// It cannot be combined with TLS.
	Dialer func(ctx context.Context, network, host string) (net.Conn, error)
	// Compress is off for an embedded broker, whose batches stay plain.
	Compress bool
	ClientID string
	// Admit, when set, is asked before a record is appended, and AdmitTopic before
	// an event topic is made; they answer with a fault.
	Admit      func(r *record.Record) error
	AdmitTopic func(name string) error
	// Observe is told of every record that was handed over, when it is settled; nil
	// is nobody. Like the done of Append, it must not block.
	Observe func(topic string, took time.Duration, err error)
	// Hooks see what the clients do.
	Hooks []kgo.Hook
	// BufferBytes bounds what waits to be appended; 0 means 256 MiB.
	BufferBytes int
	Log         *slog.Logger
}

// Log appends to and reads from the topics of one cluster.
type Log struct {
	cfg    Config
	client *kgo.Client
	admin  *kadm.Client
	era    atomic.Pointer[era]
}

// Open makes a Log without waiting for a broker; it fails on impossible
// settings only.
func Open(cfg Config) (*Log, error) {
	if len(cfg.Brokers) == 0 {
		return nil, errors.New("no brokers are given")
	}
	if cfg.BufferBytes == 0 {
		cfg.BufferBytes = defaultBufferBytes
	}
	if cfg.Observe == nil {
		cfg.Observe = func(string, time.Duration, error) {}
	}
	opts := append(
		cfg.options(),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(0),
		kgo.ProducerBatchMaxBytes(maxBatchBytes),
		kgo.MaxBufferedBytes(cfg.BufferBytes),
		kgo.RecordPartitioner(newPartitioner()),
	)
	if !cfg.Compress {
		opts = append(opts, kgo.ProducerBatchCompression(kgo.NoCompression()))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	return &Log{cfg: cfg, client: client, admin: kadm.NewClient(client)}, nil
}

// Close drops what is still waiting to be appended; see Flush.
func (l *Log) Close() { l.client.Close() }

// Flush waits until everything handed to Append is settled.
func (l *Log) Flush(ctx context.Context) error { return l.client.Flush(ctx) }

// Buffered is what was handed to Append and is not settled.
func (l *Log) Buffered() (records, bytes int64) {
	return l.client.BufferedProduceRecords(), l.client.BufferedProduceBytes()
}

// Ping reports whether any broker answers.
func (l *Log) Ping(ctx context.Context) error {
	if err := l.client.Ping(ctx); err != nil {
		return unavailable(err)
	}
	return nil
}

// ClusterID is the cluster's own name for itself.
func (l *Log) ClusterID(ctx context.Context) (string, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // nil would ask for every topic
	resp, err := req.RequestWith(ctx, l.client)
	if err != nil {
		return "", unavailable(err)
	}
	if resp.ClusterID == nil {
		return "", errors.New("the cluster has no id")
	}
	return *resp.ClusterID, nil
}

// options are those of every client, whether it appends or tails.
func (cfg *Config) options() []kgo.Opt {
	opts := []kgo.Opt{
		kgo.SeedBrokers(cfg.Brokers...),
		kgo.ClientID(cfg.ClientID),
		kgo.WithLogger(clientLogger{kslog.New(cfg.Log)}),
		kgo.MetadataMinAge(metadataMinAge),
		kgo.DisableClientMetrics(),
		kgo.WithHooks(cfg.Hooks...),
	}
	if cfg.Dialer != nil {
		opts = append(opts, kgo.Dialer(cfg.Dialer))
	}
	if cfg.TLS != nil {
		opts = append(opts, kgo.DialTLSConfig(cfg.TLS))
	}
	if cfg.SASL != nil {
		opts = append(opts, kgo.SASL(cfg.SASL))
	}
	return opts
}

// clientLogger passes on warnings and errors only: the client's information
// is for its own developers.
type clientLogger struct{ kgo.Logger }

func (clientLogger) Level() kgo.LogLevel { return kgo.LogLevelWarn }

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
