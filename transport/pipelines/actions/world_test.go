package actions_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/transport/commands"
	"hooklog/transport/keyring"
	"hooklog/transport/pipelines"
	"hooklog/transport/pipelines/actions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a service as far as the steps see it.
type world struct {
	t     *testing.T
	ring  *keyring.Ring
	users map[string][]string // their roles by name
	rules access.Policy
	// created tells of some users when they were.
	created map[string]time.Time
	// listeners are of every key.
	listeners []string
	// answer is that of every command.
	answer   any
	block    func()                             // nil, or called by every command
	nested   func(context.Context) (any, error) // nil, or the answer of every command
	requests []commands.Request

	mu      sync.Mutex
	log     []record.Record // all topics; an offset is an index
	calls   []call.Accepted
	current int
	refuses error // what the log says to an append
}

func newWorld(t *testing.T, rules ...access.Rule) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ring")
	if err := keyring.Create(path); err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		t: t, ring: ring, rules: rules, created: map[string]time.Time{"neo": putAt.Add(time.Hour)},
		users: map[string][]string{
			access.Anonymous: nil, "ada": nil, "bob": {"clerks"}, "neo": nil, "root": {access.RoleAdministrator},
		},
	}
}

func (w *world) actions(adjust ...func(*actions.Config, *actions.Deps)) *actions.Actions {
	cfg := actions.Config{BaseURL: "https://hooks.example", MessageTopics: []string{"orders", "svc.call"}, Timeout: time.Minute, Parallel: 1}
	deps := actions.Deps{
		Log:            slog.New(slog.DiscardHandler),
		Now:            func() time.Time { return time.UnixMilli(1_800_000_000_123) },
		Commands:       w,
		Registry:       w,
		Calls:          w,
		Reader:         w,
		Topics:         w,
		Journal:        w,
		Ring:           w.ring,
		CallPartitions: func() int32 { return 6 },
	}
	for _, f := range adjust {
		f(&cfg, &deps)
	}
	return actions.New(cfg, deps)
}

// Run implements actions.Commands.
func (w *world) Run(ctx context.Context, req commands.Request) (any, error) {
	w.requests = append(w.requests, req)
	if w.nested != nil {
		return w.nested(ctx)
	}
	if w.block != nil {
		w.block()
	}
	return w.answer, nil
}

// Policy implements actions.Registry.
func (w *world) Policy() access.Policy { return w.rules }

// User implements actions.Registry.
func (w *world) User(name string) (access.User, bool, error) {
	roles, ok := w.users[name]
	return access.User{Name: name, Roles: roles, Trail: access.Trail{Created: w.created[name]}}, ok, nil
}

// Listeners implements actions.Registry.
func (w *world) Listeners(string) []string { return w.listeners }

// Current implements actions.Calls.
func (w *world) Current(context.Context) error {
	w.current++
	return nil
}

// NewestEvent implements actions.Calls.
func (w *world) NewestEvent(pattern string, readable func(string) bool) (call.Event, string, bool, error) {
	for i := len(w.calls) - 1; i >= 0; i-- {
		if a := w.calls[i]; pipeline.Match(pattern, a.EventKey) && readable(a.EventKey) {
			return a.Event, a.EventKey, true, nil
		}
	}
	return call.Event{}, "", false, nil
}

// EventOfTrace implements actions.Calls.
func (w *world) EventOfTrace(traceID string, fits func(string) bool) (call.Event, string, bool, error) {
	for _, a := range w.calls {
		if a.TraceID == traceID && fits(a.EventKey) {
			return a.Event, a.EventKey, true, nil
		}
	}
	return call.Event{}, "", false, nil
}

// ReadAt implements actions.Reader.
func (w *world) ReadAt(_ context.Context, at record.Position) (record.Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case at.Offset < 0:
		return record.Record{}, expired{}
	case at.Offset >= int64(len(w.log)):
		return record.Record{}, errors.New("out of range")
	}
	return w.log[at.Offset], nil
}

type expired struct{}

func (expired) Error() string { return "out of range" }

func (expired) Below() bool { return true }

// AppendHeld implements actions.Topics.
func (w *world) AppendHeld(ctx context.Context, r *record.Record, release func()) (record.Position, error) {
	release()
	return w.AppendWait(ctx, r)
}

// AppendWait implements actions.Journal.
func (w *world) AppendWait(_ context.Context, r *record.Record) (record.Position, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuses != nil {
		return record.Position{}, w.refuses
	}
	r.Offset = int64(len(w.log))
	w.log = append(w.log, *r)
	return r.Position, nil
}

// event puts an accepted event on the log.
func (w *world) event(key, traceID, value string) {
	w.t.Helper()
	r := record.Record{Position: record.Position{Topic: record.EventTopic(key)}, Value: []byte(value)}
	at, err := w.AppendWait(w.t.Context(), &r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.calls = append(w.calls, call.Accepted{
		EventKey: key, TraceID: traceID, Event: call.EventAt(at, record.ContentDigest(nil, r.Value)),
	})
}

// putAt is when the pipelines were put.
var putAt = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

const parent = "0a4b2f7e-6f0b-4e6c-9d5e-1b1f0e5d0c11"

// triggered is what a run comes from that a call triggered.
func triggered(owner string) actions.Origin {
	return actions.Origin{
		Call: parent, Pipeline: "p", Version: 2, Attempt: 1,
		Caller: commands.Caller{Principal: access.Anonymous}, Owner: owner, Put: putAt,
		Trigger: &actions.Trigger{
			EventKey: "webhook.a", TraceID: "abcdef:aaaaaaaaaa", Last6: "abcdef",
			Accepted: record.Position{Topic: record.TopicCall, Partition: 5, Offset: 17},
		},
	}
}

func step(user, command string, params map[string]any) pipelines.StepCall {
	return pipelines.StepCall{Path: "3", Try: 1, Command: command, Params: params, Body: "the body", User: user}
}

func rule(users string, commands, keys []string, runAs ...string) access.Rule {
	return access.Rule{Users: []string{users}, Commands: commands, Keys: keys, RunAs: runAs}
}

var everything = []string{"*"}
