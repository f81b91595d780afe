//go:build faults

package faults_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

// brokersVariable names real brokers to run the suites against.
const brokersVariable = "HOOKLOG_TEST_BROKERS"

// realBrokers are those of the run, or nil.
func realBrokers() []string {
	if given := os.Getenv(brokersVariable); given != "" {
		return strings.Split(given, ",")
	}
	return nil
}

// embeddedOnly skips a suite when the run is for real brokers.
func embeddedOnly(t *testing.T) {
	t.Helper()
	if realBrokers() != nil {
		t.Skip("this run is for the brokers")
	}
}

// alongside lets a test run beside others, unless they would share brokers.
func alongside(t *testing.T) {
	if realBrokers() == nil {
		t.Parallel()
	}
}

// emptyBrokers gives brokers without any topic of a service: the real ones of
// the run, or simulated ones.
func emptyBrokers(t *testing.T) []string {
	t.Helper()
	if brokers := realBrokers(); brokers != nil {
		removeTopics(t, brokers)
		return brokers
	}
	return simulated(t).ListenAddrs()
}

func simulated(t *testing.T) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

func removeTopics(t *testing.T, brokers []string) {
	t.Helper()
	// What the client remembers of the topics must not be older than a look.
	admin := kadm.NewClient(kafkaLog{brokers: brokers}.client(t, kgo.MetadataMinAge(10*time.Millisecond)))
	eventually(t, "the topics are gone", func() bool {
		topics, err := admin.ListTopics(t.Context())
		if err != nil {
			return false
		}
		var own []string
		for _, name := range topics.Names() {
			if strings.HasPrefix(name, "svc.") {
				own = append(own, name)
			}
		}
		if len(own) > 0 {
			_, _ = admin.DeleteTopics(t.Context(), own...)
		}
		return len(own) == 0
	})
}

// kafkaLog is where ordinary clients read the log: at its brokers, or through
// the window of an embedded one.
type kafkaLog struct {
	brokers []string
	window  bool
}

func (l kafkaLog) client(t *testing.T, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	options = append(options, kgo.SeedBrokers(l.brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if l.window {
		options = append(options, kgo.SASL(plain.Auth{User: "reader", Pass: readerPassword}.AsMechanism()))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// read reads everything that is on a topic now.
func (l kafkaLog) read(t *testing.T, topic string) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	asking := l.client(t)
	defer asking.Close()
	ends, err := kadm.NewClient(asking).ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	from, missing := map[int32]kgo.Offset{}, int64(0)
	ends.Each(func(o kadm.ListedOffset) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		if o.Offset > 0 {
			from[o.Partition] = kgo.NewOffset().AtStart()
			missing += o.Offset
		}
	})
	if missing == 0 {
		return nil
	}
	reader := l.client(t, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	defer reader.Close()
	var records []*kgo.Record
	for int64(len(records)) < missing {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("read %s: %v after %d of %d records", topic, err, len(records), missing)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

// message is an event message.
type message struct {
	CorrelationID string `json:"correlationId"`
	Payload       struct {
		Origin []byte `json:"origin"`
	} `json:"payload"`
}

// logged is what the log holds of calls, by correlation id.
type logged struct {
	events   map[string]record.Digest // of the payload
	accepted map[string]call.Accepted
}

// audit reads the whole log and holds it against itself: no call has two events
// or is accepted twice, and every accepted one has its event where it says, as
// it says.
func (l kafkaLog) audit(t *testing.T, eventKeys ...string) logged {
	t.Helper()
	found := logged{events: map[string]record.Digest{}, accepted: map[string]call.Accepted{}}
	lies := map[record.Position]call.Event{}
	for _, key := range eventKeys {
		for _, r := range l.read(t, record.EventTopic(key)) {
			var m message
			if err := json.Unmarshal(r.Value, &m); err != nil {
				t.Fatalf("event %s@%d: %v", r.Topic, r.Offset, err)
			}
			if _, twice := found.events[m.CorrelationID]; twice {
				t.Errorf("call %s has two events", m.CorrelationID)
			}
			found.events[m.CorrelationID] = sha256.Sum256(m.Payload.Origin)
			at := record.Position{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}
			lies[at] = call.EventAt(at, record.ContentDigest(headersOf(r), r.Value))
		}
	}
	for _, r := range l.read(t, record.TopicCall) {
		decoded, err := call.Decode(&record.Record{Key: r.Key, Value: r.Value, Headers: headersOf(r)})
		if err != nil {
			t.Fatalf("%s@%d: %v", r.Topic, r.Offset, err)
		}
		accepted, is := decoded.(call.Accepted)
		if !is {
			continue
		}
		if _, twice := found.accepted[accepted.CorrelationID]; twice {
			t.Errorf("call %s is accepted twice", accepted.CorrelationID)
		}
		found.accepted[accepted.CorrelationID] = accepted
		e := accepted.Event
		if lies[record.Position{Topic: e.Topic, Partition: e.Partition, Offset: e.Offset}] != e {
			t.Errorf("call %s is accepted and its event is not at %s/%d@%d", accepted.CorrelationID, e.Topic, e.Partition, e.Offset)
		}
	}
	return found
}

func headersOf(r *kgo.Record) []record.Header {
	headers := make([]record.Header, len(r.Headers))
	for i := range r.Headers {
		headers[i] = record.Header(r.Headers[i])
	}
	return headers
}

// since is how long ago something was, for figures.
func since(start time.Time) time.Duration { return time.Since(start).Round(time.Millisecond) }
