//go:build faults

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/transport/keyring"
)

// answerWithin is how long a call may take, whatever happens to the log.
const answerWithin = 10 * time.Second

const pairKey = "webhook.pair"

// way is one in which an append fails.
type way struct {
	name string
	// inject makes the appends to a topic fail until heal.
	inject func(c *kfake.Cluster, topic string) (heal func())
	// status is what the calls are answered meanwhile.
	status int
	// lands says that the records are on the log in the end.
	lands bool
}

var ways = []way{
	{"is refused", failWith(kerr.InvalidRecord), http.StatusServiceUnavailable, false},
	{"finds no leader for long, and lands late", failWith(kerr.NotLeaderForPartition), http.StatusServiceUnavailable, true},
	{"is not confirmed for long, and has landed", failWith(kerr.NotEnoughReplicasAfterAppend), http.StatusServiceUnavailable, true},
	{"is cut off once, and repeated", cutOnce, http.StatusOK, true},
	{"is not confirmed once, and repeated", failOnce(kerr.RequestTimedOut), http.StatusOK, true},
}

func TestAppendsOfThePairFail(t *testing.T) {
	if realBrokers() != nil {
		t.Skip("real brokers fail at no given append")
	}
	for _, topic := range []string{record.EventTopic(pairKey), record.TopicCall} {
		for _, w := range ways {
			t.Run(topic+" "+w.name, func(t *testing.T) {
				t.Parallel()
				failing(t, topic, w)
			})
		}
	}
}

func failing(t *testing.T, topic string, w way) {
	cluster := simulated(t)
	c := startInProcess(t, cluster)
	hook := c.put(t, "eventKey="+pairKey)
	c.called(t, hook.UUID, []byte("before"))
	n := counts(5, 100)
	log := kafkaLog{brokers: cluster.ListenAddrs()}

	heal := w.inject(cluster, topic)
	var calling sync.WaitGroup
	for i := range n {
		calling.Go(func() {
			began := time.Now()
			_, status, err := c.call(hook.UUID, fmt.Append(nil, i))
			if took := time.Since(began); err != nil || status != w.status || took > answerWithin {
				t.Errorf("answered %d, %v after %s", status, err, took)
			}
		})
	}
	calling.Wait()
	before := log.audit(t, pairKey)
	polls(t, c, before)
	heal()
	if w.lands {
		eventually(t, "what was given up lands", func() bool { return len(log.read(t, topic)) >= 1+n })
	}
	c.called(t, hook.UUID, []byte("after"))

	events, accepted := 2, 2 // those before and after
	if topic == record.TopicCall || w.lands {
		events += n
	}
	if topic == record.TopicCall && w.lands || w.status == http.StatusOK {
		accepted += n
	}
	found := log.audit(t, pairKey)
	if len(found.events) != events || len(found.accepted) != accepted {
		t.Errorf("%d events and %d accepted records, want %d and %d", len(found.events), len(found.accepted), events, accepted)
	}
	polls(t, c, found)
	t.Logf("%d calls were answered %d; then %d events are on the log, of which %d are accepted and have a result, and %d are not and have none",
		n, w.status, len(found.events), len(found.accepted), len(found.events)-len(found.accepted))
}

// polls fails the test unless every accepted call has its result, and no other
// one has: there is no poll that waits for ever.
func polls(t *testing.T, c *client, found logged) {
	t.Helper()
	var polling errgroup.Group
	polling.SetLimit(64) // who asks for unknown ids shares looks at the log
	for id := range found.events {
		polling.Go(func() error {
			want := http.StatusGone
			if _, accepted := found.accepted[id]; accepted {
				want = http.StatusOK
			}
			if polled, status, err := c.poll(id); err != nil || status != want {
				t.Errorf("poll of %s: %d %+v %v, want %d", id, status, polled, err, want)
			}
			return nil
		})
	}
	_ = polling.Wait() // it has told of its errors
}

// startInProcess starts a service on brokers within this process.
func startInProcess(t *testing.T, cluster *kfake.Cluster) *client {
	t.Helper()
	folder := t.TempDir()
	cfg := settings.Default()
	cfg.Listen, cfg.OpsListen = "127.0.0.1:0", ""
	cfg.Brokers, cfg.Replication, cfg.Partitions = cluster.ListenAddrs(), 1, 1
	cfg.DataDir, cfg.KeyRing = filepath.Join(folder, "data"), filepath.Join(folder, "ring")
	cfg.AdminPassword = secret.NewPassword(adminPassword)
	if err := errors.Join(keyring.Create(cfg.KeyRing), cfg.Validate()); err != nil {
		t.Fatal(err)
	}
	logs := &buffer{}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	running, err := app.Start(ctx, cfg, app.Deps{Log: slog.New(slog.NewJSONHandler(logs, nil)), Out: &buffer{}, Now: time.Now})
	if err != nil {
		t.Fatalf("start: %v\n%s", err, logs)
	}
	c := newClient(t, running.BaseURL())
	t.Cleanup(func() {
		c.http.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := running.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return c
}

func failWith(err *kerr.Error) func(*kfake.Cluster, string) func() {
	return func(c *kfake.Cluster, topic string) func() {
		return c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: err, Count: -1}).Remove
	}
}

func failOnce(err *kerr.Error) func(*kfake.Cluster, string) func() {
	return func(c *kfake.Cluster, topic string) func() {
		return c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: err}).Remove
	}
}

// cutOnce ends the connection of the first append.
func cutOnce(c *kfake.Cluster, topic string) func() {
	c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if appendsTo(c, req, topic) {
			return nil, errors.New("the connection is cut"), true
		}
		return nil, nil, false
	})
	return func() {}
}

// appendsTo reports that a request appends to a topic.
func appendsTo(c *kfake.Cluster, req kmsg.Request, topic string) bool {
	info := c.TopicInfo(topic)
	for _, t := range req.(*kmsg.ProduceRequest).Topics {
		if t.Topic == topic || info != nil && t.TopicID == info.TopicID {
			return true
		}
	}
	return false
}
