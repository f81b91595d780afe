package embedded_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const event = record.EventTopicPrefix + "webhook.demo"

// running is a broker with a Log and an administrator on it, until stop.
type running struct {
	log   *kafka.Log
	admin *kadm.Client
	stop  func()
}

func start(t *testing.T, dir string, sync bool) running {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	broker, err := embedded.Open(embedded.Config{Dir: dir, Sync: sync, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	log, err := kafka.Open(kafka.Config{
		Brokers: broker.Addrs(), Dialer: broker.DialContext, ClientID: "test", Log: quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addrs()...), kgo.Dialer(broker.DialContext))
	if err != nil {
		t.Fatal(err)
	}
	return running{log: log, admin: kadm.NewClient(client), stop: func() {
		client.Close()
		log.Close()
		broker.Close()
	}}
}

func TestARestartKeepsEverything(t *testing.T) {
	t.Parallel()
	for name, sync := range map[string]bool{"synced": true, "not synced": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			spec := kafka.TopicSpec{Name: event, Partitions: 1, Replication: 1}
			large := record.Record{
				Position: record.Position{Topic: event},
				Time:     time.UnixMilli(1_700_000_000_000),
				Headers:  []record.Header{{Key: "h", Value: []byte("v")}},
				Value:    bytes.Repeat([]byte("x"), 8<<20),
			}
			committed := make(kadm.Offsets)
			committed.AddOffset(event, 0, 1, -1)

			first := start(t, dir, sync)
			cluster, err := first.log.ClusterID(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			info, err := first.log.EnsureTopic(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			at, err := first.log.AppendWait(t.Context(), &large)
			if err != nil {
				t.Fatal(err)
			}
			if err := first.admin.CommitAllOffsets(t.Context(), "readers", committed); err != nil {
				t.Fatal(err)
			}
			first.stop()

			second := start(t, dir, sync)
			defer second.stop()
			if again, err := second.log.ClusterID(t.Context()); err != nil || again != cluster {
				t.Errorf("the cluster was %q and is %q: %v", cluster, again, err)
			}
			if again, err := second.log.EnsureTopic(t.Context(), spec); err != nil || again != info {
				t.Errorf("the topic was %+v and is %+v: %v", info, again, err)
			}
			have, err := second.log.ReadAt(t.Context(), at)
			if err != nil || !bytes.Equal(have.Value, large.Value) || have.Header("h") != "v" || !have.Time.Equal(large.Time) {
				t.Errorf("the record came back otherwise: %v", err)
			}
			offsets, err := second.admin.FetchOffsets(t.Context(), "readers")
			if err != nil {
				t.Fatal(err)
			}
			if o, there := offsets.Lookup(event, 0); !there || o.At != 1 {
				t.Errorf("the group's offset is %+v", o)
			}
			if next, err := second.log.AppendWait(t.Context(), &record.Record{Position: record.Position{Topic: event}}); err != nil || next.Offset != 1 {
				t.Errorf("the next record is at %s: %v", next, err)
			}
		})
	}
}

func TestEachFolderIsAClusterOfItsOwn(t *testing.T) {
	t.Parallel()
	var ids []string
	for range 2 {
		r := start(t, t.TempDir(), false)
		id, err := r.log.ClusterID(t.Context())
		r.stop()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if ids[0] == ids[1] {
		t.Errorf("both are %q", ids[0])
	}
}

func TestTopicsAreNotMadeByAskingForThem(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir(), false)
	defer r.stop()
	var missing *kafka.MissingTopicError
	for range 2 {
		if _, err := r.log.Bounds(t.Context(), event); !errors.As(err, &missing) {
			t.Errorf("error %v", err)
		}
	}
}

func TestABrokenLogFolderIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "log"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "log", "meta.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := embedded.Open(embedded.Config{Dir: dir, Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("no error")
	}
}

func TestAFolderIsHeldByOneProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "here")
	lock, err := embedded.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = embedded.Lock(dir)
	if !errors.Is(err, embedded.ErrLocked) || !strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("error %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := embedded.Lock(dir)
	if err != nil {
		t.Fatalf("after it was let go: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestALockedFolderIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open, filepath.Join(t.TempDir(), "new")} {
		lock, err := embedded.Lock(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lock.Close() })
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o700 {
			t.Errorf("%s has mode %o", filepath.Base(dir), mode)
		}
	}
}
