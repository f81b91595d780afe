package disk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/transport/kafka/embedded"
)

var quiet = slog.New(slog.DiscardHandler)

// running is a broker with a client on it.
type running struct {
	broker *embedded.Broker
	client *kgo.Client
	admin  *kadm.Client
}

func open(cfg embedded.Config) (*running, error) {
	if cfg.Log == nil {
		cfg.Log = quiet
	}
	broker, err := embedded.Open(cfg)
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker.Addrs()...), kgo.Dialer(broker.DialContext),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(0),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(10*time.Millisecond),
	)
	if err != nil {
		broker.Close()
		return nil, err
	}
	return &running{broker: broker, client: client, admin: kadm.NewClient(client)}, nil
}

func mustOpen(t testing.TB, dir string) *running {
	t.Helper()
	r, err := open(embedded.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *running) stop() {
	r.client.Close()
	r.broker.Close()
}

// create makes topics whose segments are small.
func (r *running) create(ctx context.Context, topics ...string) error {
	configs := map[string]*string{"segment.bytes": kadm.StringPtr("2000"), "retention.ms": kadm.StringPtr("-1")}
	answers, err := r.admin.CreateTopics(ctx, 1, 1, configs, topics...)
	if err != nil {
		return err
	}
	return answers.Error()
}

// append puts records into topics, each into a batch of its own.
func (r *running) append(t testing.TB, n int, topics ...string) {
	t.Helper()
	for range n {
		for _, topic := range topics {
			record := kgo.Record{Topic: topic, Value: fmt.Appendf(nil, "%s %d %s", topic, rand.Uint64(), strings.Repeat("x", 100))}
			if err := r.client.ProduceSync(t.Context(), &record).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (r *running) commit(t testing.TB, group, topic string, offset int64) {
	t.Helper()
	offsets := make(kadm.Offsets)
	offsets.AddOffset(topic, 0, offset, -1)
	if err := r.admin.CommitAllOffsets(t.Context(), group, offsets); err != nil {
		t.Fatal(err)
	}
}

const (
	eventA  = "svc.event.webhook.a"
	eventB  = "svc.event.webhook.b"
	unused  = "svc.event.webhook.unused"
	command = "svc.command"
)

// build makes a log of several topics with several segments, over two starts.
// Its end is orderly, or what a process leaves that is killed.
func build(t testing.TB, orderly bool) string {
	t.Helper()
	dir := t.TempDir()
	r := mustOpen(t, dir)
	if err := r.create(t.Context(), command, eventA, eventB, unused); err != nil {
		t.Fatal(err)
	}
	r.append(t, 30, command, eventA, eventB)
	r.commit(t, "readers", eventA, 7)
	r.stop()

	r = mustOpen(t, dir)
	r.append(t, 30, command, eventA, eventB)
	r.commit(t, "readers", eventA, 9)
	r.commit(t, "readers", eventB, 3)
	if orderly {
		r.stop()
		return dir
	}
	defer r.stop()
	return copied(t, dir)
}

// content is all that can be read from a log.
type content struct {
	Cluster string
	IDs     map[string][16]byte
	Records map[string][]string
	Commits map[string]int64
}

// read opens the log and reads everything.
func read(t testing.TB, dir string) (c content, err error) {
	t.Helper()
	r, err := open(embedded.Config{Dir: dir})
	if err != nil {
		return content{}, err
	}
	defer r.stop()
	return r.read(t), nil
}

func (r *running) read(t testing.TB) content {
	t.Helper()
	c := content{IDs: make(map[string][16]byte), Records: make(map[string][]string), Commits: make(map[string]int64)}
	metadata, err := kmsg.NewPtrMetadataRequest().RequestWith(t.Context(), r.client)
	if err != nil {
		t.Fatal(err)
	}
	c.Cluster = *metadata.ClusterID
	from := make(map[string]map[int32]kgo.Offset)
	for _, topic := range metadata.Topics {
		c.IDs[*topic.Topic] = topic.TopicID
		from[*topic.Topic] = map[int32]kgo.Offset{0: kgo.NewOffset().AtStart()}
	}
	ends, err := r.admin.ListEndOffsets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left := int64(0)
	ends.Each(func(o kadm.ListedOffset) { left += o.Offset })
	consumer, err := kgo.NewClient(
		kgo.SeedBrokers(r.broker.Addrs()...), kgo.Dialer(r.broker.DialContext),
		kgo.ConsumePartitions(from), kgo.FetchMaxWait(10*time.Millisecond),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	for left > 0 {
		fetches := consumer.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(record *kgo.Record) {
			c.Records[record.Topic] = append(c.Records[record.Topic], fmt.Sprint(record.Offset, " ", string(record.Value), record.Timestamp.UnixMilli()))
			left--
		})
	}
	commits, err := r.admin.FetchOffsets(t.Context(), "readers")
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		t.Fatal(err)
	}
	commits.Each(func(o kadm.OffsetResponse) { c.Commits[o.Topic] = o.At })
	return c
}

func same(t testing.TB, want, have content) bool {
	t.Helper()
	diff := cmp.Diff(want, have)
	if diff != "" {
		t.Errorf("the log reads otherwise (-want +have):\n%s", diff)
	}
	return diff == ""
}

// files gives the contents of all files by their path below the folder, without
// what is not the log's.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			all[name] = "folder"
			return nil
		}
		raw, err := os.ReadFile(path)
		all[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// copied gives a copy of the folder.
func copied(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// partition gives the path of a file in a topic's partition.
func partition(topic, file string) string {
	return filepath.Join("log", "partitions", topic+"-0", file)
}

// fill appends batches of about eight records of a kilobyte.
func fill(t testing.TB, r *running, bytes int) {
	t.Helper()
	value := []byte(strings.Repeat("z", 1000))
	for n := 0; n < bytes; n += 8 * len(value) {
		batch := make([]*kgo.Record, 8)
		for i := range batch {
			batch[i] = &kgo.Record{Topic: []string{eventA, eventB}[i%2], Value: value}
		}
		if err := r.client.ProduceSync(t.Context(), batch...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}
