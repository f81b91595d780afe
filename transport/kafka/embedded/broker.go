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
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kfake"

	"hooklog/transport/kafka/embedded/disk"
)

const (
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
	// MaxBytes is the most that the log may have; 0 means a quarter of the
	// memory. See AdmitEvent.
	MaxBytes int64
	// AcceptTruncation goes on with a log that has lost ends of it. Without it,
	// such a log is refused.
	AcceptTruncation bool
	Log              *slog.Logger
}

// Broker is a running embedded broker.
type Broker struct {
	dir     string
	log     *slog.Logger
	network *network
	cluster *kfake.Cluster

	lost        []string // and accepted
	topics      *disk.List
	listPending func() // the topics that were made last
	topicLimit  int
	topicReason string
	guard       guard
	stopMeter   func()
	closing     sync.Once
}

// Open starts the broker on the folder's log, or on an empty one, after it has
// checked every byte of it: a log that is not in order is refused with a
// *disk.Damage, and left as it is. The folder must be locked by the caller; see
// Lock.
func Open(cfg Config) (*Broker, error) {
	checked, err := inspect(cfg)
	if err != nil {
		return nil, err
	}
	b := &Broker{dir: cfg.Dir, log: cfg.Log, lost: checked.Lost(), network: newNetwork(), stopMeter: func() {}}
	if b.cluster, err = newCluster(cfg, b.network); err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	if err := b.begin(cfg, checked); err != nil {
		b.Close()
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	return b, nil
}

// inspect checks the log, and makes it ready for the broker.
func inspect(cfg Config) (*disk.Checked, error) {
	started := time.Now()
	checked, err := disk.Check(cfg.Dir, disk.Options{
		MaxBatchBytes:    messageMaxBytes,
		AcceptTruncation: cfg.AcceptTruncation,
	})
	if err != nil {
		return nil, err
	}
	cfg.Log.Info("Checked the embedded log", "bytes", checked.Bytes, "seconds", time.Since(started).Seconds())
	if err := checked.Mend(cfg.Log); err != nil {
		return nil, fmt.Errorf("embedded log: %w", err)
	}
	return checked, nil
}

// begin sets up the rails of a broker that nobody can reach yet.
func (b *Broker) begin(cfg Config, checked *disk.Checked) (err error) {
	if b.topics, err = checked.StartList(); err != nil {
		return err
	}
	if err := b.limitTopics(); err != nil {
		return err
	}
	b.guard.init(cfg.MaxBytes)
	if err := b.guard.remeasure(b.topics.Measure); err != nil {
		return err
	}
	b.superviseTopics()
	stop := make(chan struct{})
	var metering sync.WaitGroup
	metering.Go(func() { b.meter(stop) })
	b.stopMeter = func() {
		close(stop)
		metering.Wait()
	}
	return nil
}

func newCluster(cfg Config, network *network) (*kfake.Cluster, error) {
	opts := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.ListenFn(network.listen),
		kfake.DataDir(filepath.Join(cfg.Dir, disk.LogFolder)),
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
	return kfake.NewCluster(opts...)
}

// Lost says what of the log is gone, which Config.AcceptTruncation has accepted.
func (b *Broker) Lost() []string { return b.lost }

// Addrs are the broker's addresses, which mean something to DialContext only.
func (b *Broker) Addrs() []string { return []string{address.String()} }

// DialContext connects to the broker; there is only the one address. Whoever
// gets the connection may do anything to the log.
func (b *Broker) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	return b.network.dial(ctx)
}

// Close writes everything down and ends all connections. What fails there is
// known to the log lines only.
func (b *Broker) Close() {
	b.closing.Do(func() {
		b.stopMeter()
		b.cluster.Close()
		if b.topics == nil { // it has not begun
			return
		}
		if err := b.topics.Close(); err != nil {
			b.log.Error("The list of topics could not be closed", "error", err)
		}
	})
}

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
