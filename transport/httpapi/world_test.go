package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/transport/commands"
	"hooklog/transport/httpapi"
)

const (
	token   = "11111111-2222-4333-8444-555555abcdef"
	last6   = "abcdef"
	unknown = "99999999-2222-4333-8444-555555abcdef"
	baseURL = "https://hooks.example"
	receive = "/api/v3/command/webhook.receive"
	result  = "/api/v3/result"
	nilUUID = "00000000-0000-0000-0000-000000000000"

	instance = "5d0c7a52-6f0e-4a37-8a55-0a4f0c2f6b11"
	budget   = 64 << 20
)

// world is the service around the handlers, in memory.
type world struct {
	cfg       httpapi.Config
	api       *httpapi.API
	handler   http.Handler
	gates     gates
	stale     error             // why the gates are not fresh
	fold      func(gates) error // what the gates' barrier brings
	journal   *journal
	results   *results
	commands  *dispatcher
	auth      error
	listeners []string
	ready     error
	log       *buffer
	seen      observations
}

func newWorld(t *testing.T, adjust ...func(*world)) *world {
	t.Helper()
	w := &world{
		cfg: httpapi.Config{
			BaseURL:       baseURL,
			ResultWindow:  200 * time.Millisecond,
			PollHold:      25 * time.Second,
			AppendTimeout: 8 * time.Second,
			Limits:        call.Limits{Life: time.Hour, Deadline: 24 * time.Hour},
			Instance:      instance,
			BodyBudget:    budget,
		},
		gates:    gates{},
		results:  &results{states: map[string]call.State{}, watchers: map[string][]chan struct{}{}},
		commands: &dispatcher{answer: map[string]string{"plain": "<json>"}},
		log:      &buffer{},
	}
	w.journal = &journal{results: w.results}
	w.gates.add(t, token, webhook.Gate{EventKey: "webhook.orders", PayloadType: webhook.Base64, MaxPayloadLength: webhook.DefaultMaxPayloadLength})
	for _, f := range adjust {
		f(w)
	}
	w.api = httpapi.New(w.cfg, httpapi.Deps{
		Log: slog.New(slog.NewJSONHandler(w.log, nil)),
		Now: time.Now,
		Authenticate: func(r *http.Request) (commands.Caller, error) {
			name, _, _ := r.BasicAuth()
			return commands.Caller{Principal: name}, w.auth
		},
		Commands:       w.commands,
		Gates:          view{w},
		Listeners:      func(string) []string { return w.listeners },
		Events:         w.journal,
		Calls:          w.journal,
		Results:        w.results,
		Values:         values{},
		CallPartitions: func() int32 { return 3 },
		Ready:          func() error { return w.ready },
		Metrics:        http.NotFoundHandler(),
		ObserveCall:    w.seen.call,
		ObserveCommand: w.seen.command,
	})
	w.handler = w.api.Handler()
	return w
}

// webhookWith changes the gate of the one webhook.
func webhookWith(t *testing.T, change func(*webhook.Gate)) func(*world) {
	return func(w *world) {
		gate := w.gates[hashOf(t, token)]
		change(&gate)
		w.gates.add(t, token, gate)
	}
}

func listenedBy(listeners ...string) func(*world) {
	return func(w *world) { w.listeners = listeners }
}

func (w *world) do(r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec
}

func (w *world) get(target string) *httptest.ResponseRecorder {
	return w.do(httptest.NewRequest(http.MethodGet, target, nil))
}

// post sends a body with the token in the header.
func (w *world) post(contentType, body string) *httptest.ResponseRecorder {
	return w.do(withToken(newPost(receive, contentType, body)))
}

func newPost(target, contentType, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	return r
}

func withToken(r *http.Request) *http.Request {
	r.Header.Set("Token", token)
	return r
}

func wantStatus(t *testing.T, rec *httptest.ResponseRecorder, want int) {
	t.Helper()
	if rec.Code != want {
		t.Fatalf("status %d, want %d: %s", rec.Code, want, rec.Body)
	}
}

// wantProblem checks the document and what every answer carries.
func wantProblem(t *testing.T, rec *httptest.ResponseRecorder, kind fault.Kind) map[string]any {
	t.Helper()
	wantStatus(t, rec, kind.Status())
	h := rec.Header()
	if h.Get("Content-Type") != "application/problem+json" || h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers %v", h)
	}
	document := decode[map[string]any](t, rec.Body.Bytes())
	if document["type"] != fault.ProblemType(kind) || document["title"] != kind.Title() || document["status"] != float64(kind.Status()) {
		t.Errorf("document %v", document)
	}
	if document["detail"] == "" || document["instance"] == "" {
		t.Errorf("document %v misses detail or instance", document)
	}
	return document
}

func decode[T any](t *testing.T, b []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return v
}

// resultJSON is the result document of the contract.
type resultJSON struct {
	StatusCode             int
	Status                 string
	Value                  json.RawMessage
	PollingRedirectEnabled *bool
	CorrelationID          string
	TraceID                string
}

func resultOf(t *testing.T, rec *httptest.ResponseRecorder) resultJSON {
	t.Helper()
	wantStatus(t, rec, http.StatusOK)
	if got := rec.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	if got := rec.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %q", got)
	}
	return decode[resultJSON](t, rec.Body.Bytes())
}

func hashOf(t testing.TB, text string) secret.TokenHash {
	t.Helper()
	parsed, err := secret.ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Hash()
}

type gates map[secret.TokenHash]webhook.Gate

func (g gates) add(t testing.TB, text string, gate webhook.Gate) {
	t.Helper()
	gate.Last6 = text[len(text)-6:]
	g[hashOf(t, text)] = gate
}

// view is the gates with the fold behind them.
type view struct{ w *world }

func (v view) Gate(h secret.TokenHash) (webhook.Gate, bool) {
	gate, ok := v.w.gates[h]
	return gate, ok
}

func (v view) Fresh() error { return v.w.stale }

func (v view) Current(context.Context) error {
	if v.w.fold == nil {
		return nil
	}
	return v.w.fold(v.w.gates)
}

// journal keeps the records and folds those of svc.call, like an instance that
// tails its own log.
type journal struct {
	results *results
	// refuse, when set, decides about each record.
	refuse func(context.Context, *record.Record) error
	// appended, when set, is told of each accepted call before its answer is.
	appended func(correlationID string)
	// hang, when set, keeps the events of webhook.orders until it is closed, however
	// long their callers wait.
	hang chan struct{}

	mu      sync.Mutex
	records []record.Record
	// counted are the records that nobody waited for.
	counted []call.Rejected
}

func (j *journal) AppendHeld(ctx context.Context, r *record.Record, release func()) (record.Position, error) {
	if j.hang != nil && r.Topic == record.EventTopic("webhook.orders") {
		go func() { <-j.hang; release() }()
		select {
		case <-ctx.Done():
			return record.Position{}, ctx.Err()
		case <-j.hang:
		}
	} else {
		defer release()
	}
	if j.refuse != nil {
		if err := j.refuse(ctx, r); err != nil {
			return record.Position{}, err
		}
	}
	j.mu.Lock()
	j.records = append(j.records, *r)
	at := record.Position{Topic: r.Topic, Partition: r.Partition, Offset: int64(len(j.records) + 41)}
	j.mu.Unlock()
	if r.Topic == record.TopicCall {
		decoded, err := call.Decode(r)
		if err != nil {
			return record.Position{}, err
		}
		j.results.put(call.Begin(decoded.(call.Accepted)))
		if j.appended != nil {
			j.appended(string(r.Key))
		}
	}
	return at, nil
}

func (j *journal) Append(r *record.Record, done func(record.Position, error)) {
	decoded, err := call.Decode(r)
	if err == nil && j.refuse != nil {
		err = j.refuse(context.Background(), r)
	}
	if err == nil {
		j.mu.Lock()
		j.counted = append(j.counted, decoded.(call.Rejected))
		j.mu.Unlock()
	}
	done(record.Position{}, err)
}

// counts are the records of refused calls so far.
func (j *journal) counts() []call.Rejected {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.counted)
}

// taken gives the event and the accepted record of the only call.
func (j *journal) taken(t *testing.T) (record.Record, call.Accepted) {
	t.Helper()
	if len(j.records) != 2 {
		t.Fatalf("%d records on the log, want the event and the accepted one", len(j.records))
	}
	decoded, err := call.Decode(&j.records[1])
	if err != nil {
		t.Fatal(err)
	}
	return j.records[0], decoded.(call.Accepted)
}

type results struct {
	mu       sync.Mutex
	states   map[string]call.State
	watchers map[string][]chan struct{}
	watches  int
	barriers int
	// behind is folded by the next barrier.
	behind   []call.State
	err      error
	panicked any
}

func (r *results) Call(id string) (call.State, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.panicked != nil {
		panic(r.panicked)
	}
	state, ok := r.states[id]
	return state, ok, nil
}

func (r *results) Current(context.Context) error {
	r.mu.Lock()
	r.barriers++
	behind := r.behind
	r.mu.Unlock()
	for _, state := range behind {
		r.put(state)
	}
	return r.err
}

func (r *results) Watch(id string) (<-chan struct{}, func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := make(chan struct{})
	r.watchers[id] = append(r.watchers[id], changed)
	r.watches++
	return changed, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.watches--
		r.watchers[id] = slices.DeleteFunc(r.watchers[id], func(c chan struct{}) bool { return c == changed })
	}
}

func (r *results) put(state call.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states[state.CorrelationID] = state
	for _, changed := range r.watchers[state.CorrelationID] {
		close(changed)
	}
	delete(r.watchers, state.CorrelationID)
}

// complete folds a completion with a sealed value; an empty one is a failure.
func (r *results) complete(id, listener, value string) {
	done := call.Completed{CorrelationID: id, Listener: listener, Attempt: 1, Status: call.Failed, Finished: time.Now()}
	if value != "" {
		done.Status = call.OK
		done.Value = call.ValueField + "|" + done.ValueID() + "|" + value
	}
	r.mu.Lock()
	state, _ := r.states[id].Complete(done)
	r.mu.Unlock()
	r.put(state)
}

// open puts a call that its listeners have not completed.
func (r *results) open(id string, listeners ...string) {
	r.put(call.State{CorrelationID: id, TraceID: last6 + ":aaaaaaaaaa", Received: time.Now(), Listeners: listeners})
}

// watched is how many registrations have not been stopped.
func (r *results) watched() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watches
}

// values opens what complete sealed, only for its own field and id.
type values struct{}

func (values) Open(field, id string, s secret.Sealed) ([]byte, error) {
	value, ok := strings.CutPrefix(s.Reveal(), field+"|"+id+"|")
	if !ok {
		return nil, errors.New("sealed for another field or id")
	}
	return []byte(value), nil
}

type dispatcher struct {
	answer   any
	err      error
	requests []commands.Request
	source   string // of the last pipeline
}

func (d *dispatcher) RunSource(ctx context.Context, r commands.Request, source []byte) (any, error) {
	d.source = string(source)
	return d.Run(ctx, r)
}

func (d *dispatcher) Run(_ context.Context, r commands.Request) (any, error) {
	d.requests = append(d.requests, r)
	return d.answer, d.err
}

// buffer is a log that several goroutines write.
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

// lines are the log lines, decoded.
func (b *buffer) lines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for d := json.NewDecoder(strings.NewReader(b.String())); ; {
		var line map[string]any
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			return lines
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
}
