package kafka

import (
	"context"
	"crypto/tls"
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
	StageKafka Stage = "Kafka"
	StageLogin Stage = "log-in"
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
	var found Reached
	// What a broker understands it tells everybody, so that a port that is not
	// Kafka's is told from a log-in that fails.
	asked := kmsg.NewPtrApiVersionsRequest()
	asked.ClientSoftwareName, asked.ClientSoftwareVersion = cfg.ClientID, "1"
	stranger := cfg
	stranger.SASL = nil
	answer, err := askOnce(ctx, stranger, asked)
	if err == nil {
		err = kerr.ErrorForCode(answer.(*kmsg.ApiVersionsResponse).ErrorCode)
	}
	if err != nil {
		return found, &ReachError{StageKafka, err}
	}
	versions := kversion.FromApiVersionsResponse(answer.(*kmsg.ApiVersionsResponse))
	highest, _ := versions.LookupMaxKeyVersion(kmsg.Metadata.Int16())
	found.Version, found.TopicIDs = versions.VersionGuess(), highest >= topicIDsSince

	cluster := kmsg.NewPtrMetadataRequest()
	cluster.Topics = []kmsg.MetadataRequestTopic{} // nil would ask for every topic
	if answer, err = askOnce(ctx, cfg, cluster); err != nil {
		return found, &ReachError{StageLogin, err}
	}
	for _, node := range answer.(*kmsg.MetadataResponse).Brokers {
		found.Nodes = append(found.Nodes, net.JoinHostPort(node.Host, strconv.Itoa(int(node.Port))))
	}
	return found, nil
}

// askOnce asks the one broker over a connection of its own.
func askOnce(ctx context.Context, cfg Config, req kmsg.Request) (kmsg.Response, error) {
	client, err := kgo.NewClient(cfg.options()...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.SeedBrokers()[0].Request(ctx, req)
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
