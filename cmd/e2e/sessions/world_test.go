// Package sessions_test runs refresh tokens on a real embedded log, with the
// folds of two instances. It knows no HTTP: that is the business of the suite of
// the whole service.
package sessions_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/domain/session"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/sessions"
	"hooklog/projections/store"
	"hooklog/transport/auth/families"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	client   = "hooklog"
	life     = 30 * 24 * time.Hour
	patience = 30 * time.Second
)

// world is a log in a folder, and the clock and the log lines of those on it.
type world struct {
	t      *testing.T
	dir    string
	broker *embedded.Broker
	clock  atomic.Pointer[time.Time]
	lines  buffer
}

// instance is a hooklog as far as refresh tokens are concerned.
type instance struct {
	*families.Families
	log   *kafka.Log
	store *store.Store
	view  view
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.pass(0)
	var err error
	if w.broker, err = embedded.Open(embedded.Config{Dir: w.dir, Log: w.logger()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.broker.Close)
	return w
}

func (w *world) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(&w.lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// pass moves the clock of all instances on.
func (w *world) pass(d time.Duration) {
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	if before := w.clock.Load(); before != nil {
		now = before.Add(d)
	}
	w.clock.Store(&now)
}

// join starts an instance.
func (w *world) join() *instance {
	w.t.Helper()
	log, err := kafka.Open(kafka.Config{Brokers: w.broker.Addrs(), Dialer: w.broker.DialContext, ClientID: "test", Log: w.logger()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(log.Close)
	topic, err := log.EnsureTopic(w.t.Context(), kafka.TopicSpec{Name: record.TopicSession, Partitions: 1, Replication: 1, Exact: true})
	if err != nil {
		w.t.Fatal(err)
	}
	rows := projectiontest.OpenStore(w.t)
	p := sessions.New(rows)
	i := &instance{log: log, store: rows, view: view{p, w.fold(p, rows, source{log, topic.ID})}}
	i.Families = families.New(families.Config{Life: life, Timeout: patience}, families.Deps{
		Log: w.logger(), Now: func() time.Time { return *w.clock.Load() }, Journal: log, Sessions: i.view,
	})
	return i
}

// fold folds until the end of the test.
func (w *world) fold(p fold.Projection, rows *store.Store, from fold.Source) *fold.Runner {
	w.t.Helper()
	runner := fold.NewRunner(p, rows, from, w.logger())
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			w.t.Errorf("the fold had ended: %v", err)
		}
	})
	return runner
}

// view joins the rows with the barrier of their fold.
type view struct {
	*sessions.Sessions
	runner *fold.Runner
}

func (v view) Current(ctx context.Context) error { return v.runner.Current(ctx) }

// source is the log as the projection needs it.
type source struct {
	*kafka.Log
	id kafka.TopicID
}

func (s source) Describe(ctx context.Context, topic string) (record.Topic, error) {
	bounds, err := s.Bounds(ctx, topic)
	return record.Topic{ClusterID: "cluster", TopicID: string(s.id[:]), Partitions: bounds}, err
}

func (s source) Tail(ctx context.Context, from record.Position) (fold.Tail, error) {
	return s.Log.Tail(ctx, from)
}

func (w *world) open(i *instance) secret.Password {
	w.t.Helper()
	token, _, err := i.Open(w.t.Context(), access.User{Name: "kim", Version: 1}, client, "profile")
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

func (w *world) rotate(i *instance, token secret.Password) secret.Password {
	w.t.Helper()
	next, _, err := i.Rotate(w.t.Context(), token, client)
	if err != nil {
		w.t.Fatal(err)
	}
	return next
}

// records are all on svc.session.
func (w *world) records(i *instance) []record.Record {
	w.t.Helper()
	bounds, err := i.log.Bounds(w.t.Context(), record.TopicSession)
	if err != nil {
		w.t.Fatal(err)
	}
	records := make([]record.Record, bounds[0].End)
	for n := range records {
		at := record.Position{Topic: record.TopicSession, Offset: int64(n)}
		if records[n], err = i.log.ReadAt(w.t.Context(), at); err != nil {
			w.t.Fatal(err)
		}
	}
	return records
}

// dump is every row of an instance that has folded all there is.
func (w *world) dump(i *instance) string {
	w.t.Helper()
	if err := i.view.Current(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return projectiontest.Dump(w.t, i.store)
}

// reason is why a token was refused, or "" when it was taken.
func reason(t *testing.T, err error) session.Outcome {
	t.Helper()
	var refusal *session.Refusal
	if err != nil && !errors.As(err, &refusal) {
		t.Errorf("a failure that is no refusal: %v", err)
	}
	if refusal == nil {
		return ""
	}
	return refusal.Outcome
}

// buffer takes the lines of many goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
