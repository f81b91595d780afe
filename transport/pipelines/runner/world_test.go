package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"hooklog/domain/call"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/transport/keyring"
	"hooklog/transport/pipelines"
	"hooklog/transport/pipelines/actions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a log in memory with one partition of svc.call, its folds, and a group
// whose members come and go as a test says.
type world struct {
	t    *testing.T
	ring *keyring.Ring
	out  bytes.Buffer // what is logged

	mu        sync.Mutex
	changed   chan struct{} // closed when something is
	calls     []record.Record
	events    map[record.Position]record.Record
	committed int64
	read      int64 // up to where the last member has read
	// stored holds the versions that are folded, late those that the barrier brings.
	stored, late map[string]pipeline.Pipeline
	// refusals are the next answers of the log to an append, and absences those to
	// the reading of an event.
	refusals, absences []error
	appends            int
	// do answers the commands that are no words of the language.
	do func(ctx context.Context, o actions.Origin, c pipelines.StepCall) (any, error)
	// issued counts the commands by their ids.
	issued map[string]int
}

func newWorld(t *testing.T) *world {
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
		t: t, ring: ring, changed: make(chan struct{}),
		events: map[record.Position]record.Record{}, issued: map[string]int{},
		stored: map[string]pipeline.Pipeline{}, late: map[string]pipeline.Pipeline{},
	}
}

// note changes the world and wakes those who wait for that.
func (w *world) note(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	close(w.changed)
	w.changed = make(chan struct{})
}

// until waits for a state of the world.
func (w *world) until(what string, reached func() bool) {
	w.t.Helper()
	timeout := time.After(2 * time.Minute)
	for {
		w.mu.Lock()
		ok, changed := reached(), w.changed
		w.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			w.t.Fatalf("it never came to this: %s", what)
		}
	}
}

// putAt is when the pipelines are put.
var putAt = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// put stores a version of a pipeline.
func (w *world) put(into map[string]pipeline.Pipeline, name string, version int, source string) {
	w.t.Helper()
	sealed, err := w.ring.Seal(pipeline.BodyField, name, []byte(source))
	if err != nil {
		w.t.Fatal(err)
	}
	p := pipeline.Pipeline{
		Name: name, Version: version, UpdatedBy: "ada", Updated: putAt,
		Source: pipeline.Source{Body: sealed, SealedFor: name},
	}
	w.note(func() { into[p.Listener()] = p })
}

// accept puts a call with an event on the log, as receive does.
func (w *world) accept(eventKey, payload string, listeners ...string) call.Accepted {
	w.t.Helper()
	return w.acceptSized(len(payload), eventKey, payload, listeners...)
}

// acceptSized is accept with a body that is said to have so many bytes.
func (w *world) acceptSized(size int, eventKey, payload string, listeners ...string) call.Accepted {
	w.t.Helper()
	id := uuid.NewString()
	value := fmt.Appendf(nil, `{"eventKey":%q,"traceId":"abcdef:aaaaaaaaaa","payload":%s}`, eventKey, payload)
	at := record.Position{Topic: record.EventTopic(eventKey), Offset: int64(len(w.events))}
	event := record.Record{Position: at, Value: value}
	a := call.Accepted{
		CorrelationID: id, TraceID: "abcdef:aaaaaaaaaa", EventKey: eventKey, Last6: "abcdef",
		Received: time.Now().UTC().Truncate(time.Millisecond), Method: "POST", Size: size,
		Event: call.EventAt(at, record.ContentDigest(event.Headers, event.Value)), Listeners: listeners,
	}
	w.note(func() { w.events[at] = event })
	w.append(a.Encode(0))
	return a
}

func (w *world) append(r record.Record, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	w.note(func() { w.take(r) })
}

func (w *world) take(r record.Record) {
	r.Offset = int64(len(w.calls))
	w.calls = append(w.calls, r)
}

// AppendWait implements runner.Journal.
func (w *world) AppendWait(_ context.Context, r *record.Record) (record.Position, error) {
	var err error
	w.note(func() {
		w.appends++
		if len(w.refusals) > 0 {
			err, w.refusals = w.refusals[0], w.refusals[1:]
			return
		}
		w.take(*r)
	})
	return record.Position{}, err
}

// ReadAt implements actions.Reader.
func (w *world) ReadAt(_ context.Context, at record.Position) (record.Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.absences) > 0 {
		err := w.absences[0]
		w.absences = w.absences[1:]
		return record.Record{}, err
	}
	r, ok := w.events[at]
	if !ok {
		return r, rangeError(len(w.events) == 0)
	}
	return r, nil
}

// rangeError is that of a log that does not hold an offset; true says that it has
// expired.
type rangeError bool

func (rangeError) Error() string { return "out of range" }

func (e rangeError) Below() bool { return bool(e) }

// Wait implements runner.Calls.
func (w *world) Wait(context.Context, record.Position) error { return nil }

// Run implements runner.Calls: it folds the log each time.
func (w *world) Run(id string) (h call.History, found bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.calls {
		decoded, err := call.Decode(&w.calls[i])
		if err != nil {
			return h, false, err
		}
		switch c := decoded.(type) {
		case call.Accepted:
			if c.CorrelationID == id && !found {
				h, found = call.History{Accepted: c}, true
			}
		case call.Completed:
			if c.CorrelationID == id {
				h, _ = h.Complete(c)
			}
		case call.Retried:
			if c.CorrelationID == id {
				h, _ = h.Retry(c)
			}
		}
	}
	return h, found, nil
}

// Pipeline implements runner.Registry.
func (w *world) Pipeline(name string, version int) (pipeline.Pipeline, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.stored[fmt.Sprintf("%s@%d", name, version)]
	return p, ok, nil
}

// Current implements runner.Registry.
func (w *world) Current(context.Context) error {
	w.note(func() {
		for listener, p := range w.late {
			w.stored[listener] = p
		}
	})
	return nil
}

// Step implements pipelines.Catalog.
func (*world) Step(name string) (pipelines.Command, bool) {
	return pipelines.Command{Name: name, Params: []pipelines.Param{{Name: "value"}}}, name == "test.do"
}

// steps are the steps of one run.
type steps struct {
	*world
	origin actions.Origin
}

func (s *steps) id(path string, try int) string {
	o := s.origin
	return pipeline.Step{Call: o.Call, Pipeline: o.Pipeline, Version: o.Version, Path: path, Attempt: o.Attempt, Try: try}.CommandID()
}

func (*steps) Allow(context.Context, string, string) error { return nil }

func (s *steps) Do(ctx context.Context, c pipelines.StepCall) (any, error) {
	s.note(func() { s.issued[s.id(c.Path, c.Try)]++ })
	return s.do(ctx, s.origin, c)
}

func (s *steps) CommandID(path string) string { return s.id(path, 1) }

// completion is a completed record with what is sealed in it.
type completion struct {
	call.Completed
	value  string
	detail call.Detail
}

// completions are those of a call, opened.
func (w *world) completions(id string) (all []completion) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.calls {
		decoded, err := call.Decode(&w.calls[i])
		if err != nil {
			w.t.Error(err)
			continue
		}
		c, ok := decoded.(call.Completed)
		if !ok || c.CorrelationID != id {
			continue
		}
		one := completion{Completed: c}
		if c.Value != "" {
			one.value = w.open(call.ValueField, c.ValueID(), c.Value)
		}
		if c.Detail != "" {
			if err := json.Unmarshal([]byte(w.open(call.DetailField, c.ValueID(), c.Detail)), &one.detail); err != nil {
				w.t.Error(err)
			}
		}
		all = append(all, one)
	}
	return all
}

func (w *world) open(field, id, sealed string) string {
	plain, err := w.ring.Open(field, id, secret.NewSealed(sealed))
	if err != nil {
		w.t.Error(err)
	}
	return string(plain)
}

// complete waits for the completion of a call's only listener.
func (w *world) complete(a call.Accepted) completion {
	w.t.Helper()
	w.untilComplete(a, 1)
	return w.completions(a.CorrelationID)[0]
}

func (w *world) untilComplete(a call.Accepted, n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%d completions", n), func() bool {
		found := 0
		for i := range w.calls {
			if r := &w.calls[i]; string(r.Key) == a.CorrelationID && r.Header(record.HeaderType) == call.CompletedType {
				found++
			}
		}
		return found >= n
	})
}
