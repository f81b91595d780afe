package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Stage is how far the way to a broker led.
type Stage string

// The stages, in their order.
const (
	StageTCP   Stage = "TCP"
	StageTLS   Stage = "TLS"
	StageLogin Stage = "log-in"
	StageKafka Stage = "Kafka"
)

// ReachError is returned by Reach: the stage that failed, and why.
type ReachError struct {
	Stage Stage
	Err   error
}

func (e *ReachError) Error() string { return fmt.Sprintf("%s: %v", e.Stage, e.Err) }

// Unwrap gives the reason.
func (e *ReachError) Unwrap() error { return e.Err }

// Reached is what a broker says of itself and its cluster.
type Reached struct {
	// Version is a guess by what the broker understands, such as "v4.1".
	Version string
	// TopicIDs says that it tells a topic from an earlier one of its name, without
	// which a recreated topic is not noticed.
	TopicIDs bool
	// Nodes are the addresses that the cluster's brokers want to be reached at.
	Nodes []string
}

// topicIDsSince is the first version of the metadata with ids of topics.
const topicIDsSince = 10

// Reach goes the way to one broker step by step, once, so that it is known where
// it ends. It is for whoever looks for a fault; a Log finds its way by itself.
func Reach(ctx context.Context, cfg Config, address string) (Reached, error) {
	if err := knock(ctx, cfg.TLS, address); err != nil {
		return Reached{}, err
	}
	cfg.Brokers = []string{address}
	client, err := kgo.NewClient(cfg.options()...)
	if err != nil {
		return Reached{}, err
	}
	defer client.Close()
	broker := client.SeedBrokers()[0]
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Topics = []kmsg.MetadataRequestTopic{} // nil would ask for every topic
	answer, err := broker.Request(ctx, metadata)
	if err != nil {
		return Reached{}, &ReachError{stageOf(err), err}
	}
	var found Reached
	for _, node := range answer.(*kmsg.MetadataResponse).Brokers {
		found.Nodes = append(found.Nodes, net.JoinHostPort(node.Host, strconv.Itoa(int(node.Port))))
	}
	answer, err = broker.Request(ctx, kmsg.NewPtrApiVersionsRequest())
	if err != nil {
		return Reached{}, &ReachError{StageKafka, err}
	}
	versions := kversion.FromApiVersionsResponse(answer.(*kmsg.ApiVersionsResponse))
	highest, _ := versions.LookupMaxKeyVersion(kmsg.Metadata.Int16())
	found.Version, found.TopicIDs = versions.VersionGuess(), highest >= topicIDsSince
	return found, nil
}

// knock connects and says nothing.
func knock(ctx context.Context, secured *tls.Config, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return &ReachError{StageTCP, err}
	}
	defer func() { _ = conn.Close() }()
	if secured == nil {
		return nil
	}
	secured = secured.Clone()
	if secured.ServerName == "" {
		secured.ServerName, _, _ = net.SplitHostPort(address)
	}
	if err := tls.Client(conn, secured).HandshakeContext(ctx); err != nil {
		return &ReachError{StageTLS, err}
	}
	return nil
}

func stageOf(err error) Stage {
	for _, refusal := range []error{kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState} {
		if errors.Is(err, refusal) {
			return StageLogin
		}
	}
	return StageKafka
}
