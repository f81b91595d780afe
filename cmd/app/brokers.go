package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"hooklog/cmd/settings"
	"hooklog/domain/record"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
)

const (
	clientID = "hooklog"
	// brokerRetry is how often unreachable brokers are tried again at the start.
	brokerRetry = time.Second
	brokerWait  = 10 * time.Second
)

// logConfig says how to reach the log: in this process, or at the brokers.
func logConfig(cfg settings.Config, broker *embedded.Broker, log *slog.Logger) (kafka.Config, error) {
	if broker != nil {
		return kafka.Config{
			Brokers:    broker.Addrs(),
			Dialer:     broker.DialContext,
			ClientID:   clientID,
			Admit:      broker.Admit,
			AdmitTopic: broker.AdmitTopic,
			Log:        log,
		}, nil
	}
	secured, err := brokerTLS(cfg)
	if err != nil {
		return kafka.Config{}, err
	}
	return kafka.Config{
		Brokers:  cfg.Brokers,
		TLS:      secured,
		SASL:     brokerSASL(cfg),
		Compress: true,
		ClientID: clientID,
		Log:      log,
	}, nil
}

// OpenBrokers gives the log at the brokers alone, for whoever reads it beside the
// service.
func OpenBrokers(cfg settings.Config, log *slog.Logger) (*kafka.Log, error) {
	at, err := logConfig(cfg, nil, log)
	if err != nil {
		return nil, err
	}
	return kafka.Open(at)
}

func brokerTLS(cfg settings.Config) (*tls.Config, error) {
	if !cfg.BrokerTLS {
		return nil, nil
	}
	secured := &tls.Config{MinVersion: tls.VersionTLS12}
	if cfg.BrokerTLSCA != "" {
		pem, err := os.ReadFile(cfg.BrokerTLSCA)
		if err != nil {
			return nil, fmt.Errorf("broker-tls-ca: %w", err)
		}
		secured.RootCAs = x509.NewCertPool()
		if !secured.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("broker-tls-ca: %s holds no certificate in PEM form", cfg.BrokerTLSCA)
		}
	}
	if cfg.BrokerTLSCert != "" {
		pair, err := tls.LoadX509KeyPair(cfg.BrokerTLSCert, cfg.BrokerTLSKey)
		if err != nil {
			return nil, fmt.Errorf("broker-tls-cert: %w", err)
		}
		secured.Certificates = []tls.Certificate{pair}
	}
	return secured, nil
}

func brokerSASL(cfg settings.Config) sasl.Mechanism {
	user, password := cfg.BrokerUser, cfg.BrokerPassword.Reveal()
	switch cfg.BrokerSASL {
	case "plain":
		return plain.Auth{User: user, Pass: password}.AsMechanism()
	case "scram-sha-256":
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	case "scram-sha-512":
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	}
	return nil
}

// ownTopics are the topics that every instance needs before it serves.
func ownTopics(cfg settings.Config) []kafka.TopicSpec {
	n, copies := cfg.EffectivePartitions(), cfg.EffectiveReplication()
	topics := []kafka.TopicSpec{
		{Name: record.TopicCommand, Partitions: 1, Replication: copies, Exact: true},
		{Name: record.TopicCall, Partitions: n, Replication: copies, Retention: cfg.CallRetention},
		{Name: record.TopicAccess, Partitions: n, Replication: copies, Retention: cfg.AccessRetention},
		{Name: record.TopicSession, Partitions: 1, Replication: copies, Retention: sessionRetention(cfg), Exact: true},
		{Name: record.TopicCheckpoint, Partitions: 1, Replication: copies, Exact: true},
	}
	if cfg.Embedded() { // where nobody else could make those that pipelines write
		for _, name := range cfg.MessageTopics {
			topics = append(topics, kafka.TopicSpec{Name: name, Partitions: n, Replication: copies})
		}
	}
	return topics
}

// sessionRetention is the life of refresh tokens: what is older is about families
// that have expired. The embedded broker keeps everything.
func sessionRetention(cfg settings.Config) time.Duration {
	if cfg.Embedded() {
		return 0
	}
	return cfg.RefreshTokenLife
}

func eventTopic(cfg settings.Config) kafka.TopicSpec {
	return kafka.TopicSpec{
		Partitions:  cfg.EffectivePartitions(),
		Replication: cfg.EffectiveReplication(),
		Retention:   cfg.EventRetention,
	}
}

// reach waits for the brokers and for topics that fit: an operator can mend
// either while the service waits, and readiness tells the reason.
func reach(ctx context.Context, cfg settings.Config, log *kafka.Log, waiting func(error)) (*source, error) {
	for {
		found, err := lookUp(ctx, cfg, log)
		if err == nil {
			return found, nil
		}
		waiting(err)
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(brokerRetry):
		}
	}
}

func lookUp(ctx context.Context, cfg settings.Config, log *kafka.Log) (*source, error) {
	ctx, cancel := context.WithTimeout(ctx, brokerWait)
	defer cancel()
	// Unlike all other requests this one is not repeated by the client, so the
	// reason is known at once.
	if err := log.Ping(ctx); err != nil {
		return nil, err
	}
	id, err := log.ClusterID(ctx)
	if err != nil {
		return nil, err
	}
	s := &source{log: log, clusterID: id, topics: make(map[string]kafka.TopicInfo)}
	for _, spec := range ownTopics(cfg) {
		if s.topics[spec.Name], err = log.EnsureTopic(ctx, spec); err != nil {
			return nil, err
		}
	}
	return s, nil
}
