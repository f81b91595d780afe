// Package embedded is a Kafka broker inside this process, so that hooklog runs
// with nothing else installed: the same client code, the same topics. It keeps
// its log in a folder and is reached by in-process connections only: no port is
// open, since whoever can write to it is administrator. It is one broker on one
// machine; it replicates nothing, and holds an index of the whole log in memory.
// Only cmd imports it.
package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kfake"
)

const (
	logFolder = "log"

	// messageMaxBytes fits the largest record; topics name it themselves too.
	messageMaxBytes = 10 << 20

	// Ordinary clients ask for sessions within these bounds.
	minSession = 6 * time.Second
	maxSession = 30 * time.Minute

	// The broker knows no "for ever" for the offsets of groups, and much more
	// than a hundred years would overflow its clock.
	offsetRetention = 100 * 365 * 24 * time.Hour
)

// Config says where the broker keeps its log.
type Config struct {
	// Dir is the instance's folder; the log is in its subfolder "log".
	Dir string
	// Sync makes every append durable before it is confirmed. Without it, a
	// power cut may lose what was confirmed.
	Sync bool
	Log  *slog.Logger
}

// Broker is a running embedded broker.
type Broker struct {
	network *network
	cluster *kfake.Cluster
}

// Open starts the broker on the folder's log, or on an empty one. The folder
// must be locked by the caller; see Lock.
func Open(cfg Config) (*Broker, error) {
	network := newNetwork()
	opts := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.ListenFn(network.listen),
		kfake.DataDir(filepath.Join(cfg.Dir, logFolder)),
		kfake.ClusterID(uuid.NewString()), // counts at the first start only
		kfake.DefaultNumPartitions(1),
		kfake.GroupMinSessionTimeout(minSession),
		kfake.GroupMaxSessionTimeout(maxSession),
		kfake.BrokerConfigs(map[string]string{
			"message.max.bytes":         strconv.Itoa(messageMaxBytes),
			"log.retention.ms":          "-1",
			"offsets.retention.minutes": strconv.Itoa(int(offsetRetention.Minutes())),
		}),
		kfake.WithLogger(brokerLogger{cfg.Log}),
	}
	if cfg.Sync {
		opts = append(opts, kfake.SyncWrites())
	}
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	return &Broker{network: network, cluster: cluster}, nil
}

// Addrs are the broker's addresses, which mean something to DialContext only.
func (b *Broker) Addrs() []string { return []string{address.String()} }

// DialContext connects to the broker; there is only the one address. Whoever
// gets the connection may do anything to the log.
func (b *Broker) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	return b.network.dial(ctx)
}

// Close writes everything down and ends all connections. What fails there is
// known to the log lines only.
func (b *Broker) Close() { b.cluster.Close() }

// brokerLogger passes on warnings and errors.
type brokerLogger struct{ log *slog.Logger }

func (l brokerLogger) Logf(level kfake.LogLevel, format string, args ...any) {
	var as slog.Level
	switch level {
	case kfake.LogLevelError:
		as = slog.LevelError
	case kfake.LogLevelWarn:
		as = slog.LevelWarn
	default:
		return
	}
	l.log.Log(context.Background(), as, "embedded broker", "detail", fmt.Sprintf(format, args...))
}
