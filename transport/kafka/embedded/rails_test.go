package embedded_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/fault"
	"hooklog/transport/kafka/embedded"
	"hooklog/transport/kafka/embedded/disk"
)

// guarded is a broker that may have so many bytes, with an administrator.
type guarded struct {
	*embedded.Broker
	dir    string
	client *kgo.Client
	admin  *kadm.Client
}

func guard(t *testing.T, dir string, maxBytes int64) *guarded {
	t.Helper()
	broker, err := embedded.Open(embedded.Config{Dir: dir, MaxBytes: maxBytes, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker.Addrs()...), kgo.Dialer(broker.DialContext),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.RequestRetries(0), kgo.MetadataMinAge(10*time.Millisecond),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &guarded{broker, dir, client, kadm.NewClient(client)}
}

func (g *guarded) create(t *testing.T, configs map[string]*string, topics ...string) error {
	t.Helper()
	answers, err := g.admin.CreateTopics(t.Context(), 1, 1, configs, topics...)
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range answers {
		if answer.Err != nil {
			return errors.Join(answer.Err, errors.New(answer.ErrMessage))
		}
	}
	return nil
}

func (g *guarded) append(t *testing.T, topic string, values ...string) {
	t.Helper()
	for _, value := range values {
		if err := g.client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

const kib = 1 << 10

func TestAFullLogTakesCommandsAndNoEvents(t *testing.T) {
	t.Parallel()
	g := guard(t, t.TempDir(), 1000*kib)
	if err := g.AdmitEvent(450 * kib); err != nil {
		t.Errorf("with room: %v", err)
	}
	err := g.AdmitEvent(100 * kib)
	if !fault.Is(err, fault.Unavailable) || fault.From(err).RetryAfter <= 0 {
		t.Fatalf("without room: %v", err)
	}
	for _, way := range []string{"full", "embedded-max-bytes", "Kafka"} {
		if !strings.Contains(fault.From(err).Detail, way) {
			t.Errorf("%q does not say %q", fault.From(err).Detail, way)
		}
	}
	if err := g.AdmitEvent(10 * kib); err != nil {
		t.Errorf("a smaller event still fits: %v", err)
	}
	if err := g.AdmitCommand(500 * kib); err != nil {
		t.Errorf("a command in the reserve: %v", err)
	}
	if err := g.AdmitCommand(100 * kib); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a command beyond the reserve: %v", err)
	}
}

func TestTheLogMayHaveAQuarterOfTheMemory(t *testing.T) {
	t.Parallel()
	used, limit := guard(t, t.TempDir(), 0).Size()
	if limit < 64<<20 || limit > 1<<50 || used <= 0 || used > 100*kib {
		t.Errorf("it has %d of %d bytes", used, limit)
	}
}

func TestTheLogIsMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, t.TempDir(), 1000*kib)
		if err := g.create(t, map[string]*string{"segment.bytes": kadm.StringPtr("100")}, event); err != nil {
			t.Fatal(err)
		}
		g.append(t, event, strings.Repeat("a", 50*kib), "b", "c", "d")
		if err := g.AdmitEvent(400 * kib); err != nil { // which is never appended
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if used, _ := g.Size(); used < 50*kib || used > 100*kib {
			t.Errorf("the log has %d bytes", used)
		}

		// A killed process has no other way to know that this segment was there.
		killed := t.TempDir()
		if err := os.CopyFS(killed, os.DirFS(g.dir)); err != nil {
			t.Fatal(err)
		}
		segments, err := filepath.Glob(filepath.Join(killed, "log", "partitions", event+"-0", "[1-9]*"))
		if err != nil || len(segments) == 0 {
			t.Fatal("there is one segment only", err)
		}
		for _, segment := range segments {
			if err := os.Remove(segment); err != nil {
				t.Fatal(err)
			}
		}
		var damage *disk.Damage
		_, err = embedded.Open(embedded.Config{Dir: killed, Log: slog.New(slog.DiscardHandler)})
		if !errors.As(err, &damage) || !damage.Shorter {
			t.Errorf("without its last segments: %v", err)
		}
	})
}

func TestARestartKnowsTheSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := guard(t, dir, 0)
	if err := g.create(t, nil, event); err != nil {
		t.Fatal(err)
	}
	g.append(t, event, strings.Repeat("a", 600*kib))
	g.client.Close()
	g.Close()
	g = guard(t, dir, 1000*kib)
	if used, _ := g.Size(); used < 600*kib || used > 700*kib {
		t.Errorf("the log has %d bytes", used)
	}
	if err := g.AdmitEvent(1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("an event: %v", err)
	}
}

func TestThereIsALimitOfEventTopics(t *testing.T) {
	t.Parallel()
	g := guard(t, t.TempDir(), 0)
	g.LimitTopics(2)
	if err := g.create(t, nil, "svc.call", event, event+".2"); err != nil {
		t.Fatal(err)
	}
	err := g.create(t, nil, event+".3")
	if !errors.Is(err, kerr.PolicyViolation) || !strings.Contains(err.Error(), "more than 2 event topics") {
		t.Errorf("one more: %v", err)
	}
	if err := g.create(t, nil, event); !errors.Is(err, kerr.TopicAlreadyExists) {
		t.Errorf("one that is there: %v", err)
	}
	if err := g.create(t, nil, "svc.access"); err != nil {
		t.Errorf("one that is for no event: %v", err)
	}
	if err := g.AdmitTopic(event); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if err := g.AdmitTopic(event + ".3"); !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.From(err).Detail, "2 event topics") {
		t.Errorf("one more: %v", err)
	}
}

func TestNothingIsDeletedFromTheLog(t *testing.T) {
	t.Parallel()
	g := guard(t, t.TempDir(), 0)
	if err := g.create(t, nil, event); err != nil {
		t.Fatal(err)
	}
	for setting, value := range map[string]string{"retention.ms": "60000", "retention.bytes": "1000", "cleanup.policy": "compact"} {
		err := g.create(t, map[string]*string{setting: &value}, event+".2")
		if !errors.Is(err, kerr.PolicyViolation) || !strings.Contains(err.Error(), setting) {
			t.Errorf("%s=%s: %v", setting, value, err)
		}
	}
	for _, req := range []kmsg.Request{
		kmsg.NewPtrDeleteTopicsRequest(), kmsg.NewPtrDeleteRecordsRequest(), kmsg.NewPtrCreatePartitionsRequest(),
		kmsg.NewPtrAlterConfigsRequest(), kmsg.NewPtrIncrementalAlterConfigsRequest(),
	} {
		for range 2 {
			if answer, err := g.client.Request(t.Context(), req); err == nil {
				t.Errorf("%s is answered %v", kmsg.NameForKey(req.Key()), answer)
			}
		}
	}
	g.append(t, event, "still here")
}

func TestATopicThatCannotBeMadeDurableIsTakenBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := guard(t, dir, 0)
	obstacle := filepath.Join(dir, "log", "topics.json.tmp")
	if err := os.Mkdir(obstacle, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := g.create(t, nil, event); err != nil {
		t.Fatal(err)
	}
	if err := g.client.ProduceSync(t.Context(), &kgo.Record{Topic: event}).FirstErr(); err == nil {
		t.Error("a record was confirmed")
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	if err := g.create(t, nil, event); err != nil {
		t.Fatal(err)
	}
	g.append(t, event, "now")
	g.client.Close()
	g.Close()
	guard(t, dir, 0)
}
