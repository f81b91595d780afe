package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/transport/commands"
	"hooklog/transport/keyring"
)

// world is a log that can fail, and a fold that answers every command alike.
type world struct {
	mu       sync.Mutex
	appended []record.Record
	failure  error
	silent   bool // the fold never comes to the command
	outcome  registry.Outcome
	webhooks []webhook.Webhook
	policy   access.Policy
	topics   []string
}

func (w *world) AppendWait(_ context.Context, r *record.Record) (record.Position, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure != nil {
		return record.Position{}, w.failure
	}
	w.appended = append(w.appended, *r)
	return r.Position, nil
}

func (w *world) Append(r *record.Record, done func(record.Position, error)) {
	done(w.AppendWait(context.Background(), r))
}

func (w *world) Await(string, string) (<-chan registry.Outcome, func()) {
	ch := make(chan registry.Outcome, 1)
	if !w.silent {
		ch <- w.outcome
	}
	return ch, func() {}
}

func (w *world) Policy() access.Policy             { return w.policy }
func (w *world) Users() ([]access.User, error)     { return nil, nil }
func (w *world) Clients() ([]access.Client, error) { return nil, nil }

func (w *world) Pipeline(string, int) (p pipeline.Pipeline, ok bool, err error) { return p, ok, err }

func (w *world) Pipelines(string, int, func(string) bool) ([]pipeline.Pipeline, error) {
	return nil, nil
}

func (w *world) Webhooks(after string, limit int, readable func(string) bool) ([]webhook.Webhook, error) {
	var found []webhook.Webhook
	for _, h := range w.webhooks {
		if h.EventKey > after && readable(h.EventKey) && (limit == 0 || len(found) < limit) {
			found = append(found, h)
		}
	}
	return found, nil
}

func (w *world) Ensure(_ context.Context, topic string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.topics = append(w.topics, topic)
	return nil
}

// surroundings are the log and the fold that a dispatcher works with.
type surroundings interface {
	commands.Journal
	commands.Registry
	commands.Topics
}

func newRing(t *testing.T) *keyring.Ring {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ring")
	if err := keyring.Create(path); err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func newDispatcher(t *testing.T, w surroundings, logs *bytes.Buffer) *commands.Dispatcher {
	t.Helper()
	return dispatcherWith(w, newRing(t), logs)
}

func dispatcherWith(w surroundings, ring *keyring.Ring, logs *bytes.Buffer) *commands.Dispatcher {
	return commands.New(commands.Config{BaseURL: "https://hooks.example.org", Timeout: 10 * time.Second}, commands.Deps{
		Log: slog.New(slog.NewTextHandler(logs, nil)), Now: time.Now, Journal: w, Registry: w, Ring: ring, Topics: w, Hash: hash,
		AccessPartitions: func() int32 { return 1 },
		Compile:          compile,
		RunPipeline:      runPipeline,
		Runs:             noRuns{},
		Checkpoints:      &signer{},
		Audit:            &audits{},
	})
}

// noRuns is the fold of a log without calls.
type noRuns struct{}

func (noRuns) Run(string) (h call.History, known bool, err error) { return h, known, err }
func (noRuns) Current(context.Context) error                      { return nil }
func (noRuns) Wait(context.Context, record.Position) error        { return nil }
func (noRuns) List(call.RunFilter, string, int) (runs []call.Run, next string, err error) {
	return runs, next, err
}

// hash stands for a slow one.
func hash(p secret.Password) (string, error) {
	return "$argon2id$" + access.SecretHash(p), nil
}

func request(t *testing.T, name string, roles []string, params ...string) commands.Request {
	t.Helper()
	c, ok := catalog.Lookup(name)
	if !ok {
		t.Fatalf("no command %s", name)
	}
	var given []catalog.Given
	for _, p := range params {
		key, value, _ := strings.Cut(p, "=")
		given = append(given, catalog.Given{Name: key, Value: value, Source: catalog.Body})
	}
	args, err := c.Bind(given)
	if err != nil {
		t.Fatal(err)
	}
	return commands.Request{Caller: commands.Caller{Principal: "ann", Roles: roles, Address: "192.0.2.7"}, Command: c, Args: args}
}

var administrator = []string{access.RoleAdministrator}

func TestAnUndecidedCommandNamesItsID(t *testing.T) {
	for name, w := range map[string]*world{
		"when the log does not take it": {failure: fault.New(fault.Unavailable, "down").Because(errors.New("broker-7:9092"))},
		"when the fold does not come":   {silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDispatcher(t, w, &bytes.Buffer{})
				_, err := d.Run(t.Context(), request(t, "webhook.put", administrator, "eventKey=webhook.a"))
				f := fault.From(err)
				if f.Kind != fault.Unavailable || f.RetryAfter <= 0 || !strings.Contains(f.Detail, "Its id is ") {
					t.Fatalf("got %v", err)
				}
				if strings.Contains(f.Detail, "broker-7") {
					t.Fatalf("the caller is shown the broker: %s", f.Detail)
				}
			})
		})
	}
}

func TestBadParametersAreNotAppended(t *testing.T) {
	for _, params := range [][]string{nil, {"eventKey=Orders"}, {"eventKey=webhook.a", "maxPayloadLength=0"}, {"eventKey=webhook.a", "version=1"}} {
		w := &world{}
		_, err := newDispatcher(t, w, &bytes.Buffer{}).Run(t.Context(), request(t, "webhook.put", administrator, params...))
		if !fault.Is(err, fault.Invalid) || len(w.appended) != 0 {
			t.Errorf("%v: %v, %d records", params, err, len(w.appended))
		}
	}
}

func TestACreationCarriesItsTokenSealedOnly(t *testing.T) {
	w := &world{outcome: registry.Outcome{Fault: fault.Conflict.String(), Detail: "taken"}}
	d := newDispatcher(t, w, &bytes.Buffer{})
	if _, err := d.Run(t.Context(), request(t, "webhook.put", administrator, "eventKey=webhook.a")); !fault.Is(err, fault.Conflict) {
		t.Fatalf("got %v", err)
	}
	var command struct {
		Principal, Address string
		Params             struct{ Token, TokenHash, Last6, PayloadType string }
	}
	if err := json.Unmarshal(w.appended[0].Value, &command); err != nil {
		t.Fatal(err)
	}
	p := command.Params
	if command.Principal != "ann" || command.Address != "192.0.2.7" || !strings.HasPrefix(p.Token, "1.") ||
		len(p.TokenHash) != 64 || len(p.Last6) != 6 || p.PayloadType != "base64" {
		t.Fatalf("recorded %s", w.appended[0].Value)
	}
	if len(w.topics) != 0 {
		t.Fatal("a refused creation made a topic")
	}
}

func TestLooks(t *testing.T) {
	hooks := []webhook.Webhook{{EventKey: "webhook.a"}, {EventKey: "webhook.b"}, {EventKey: "webhook.c"}}
	t.Run("are answered page by page", func(t *testing.T) {
		d := newDispatcher(t, &world{webhooks: hooks}, &bytes.Buffer{})
		var keys []string
		params := []string{"limit=2"}
		for {
			answer, err := d.Run(t.Context(), request(t, "webhook.list", administrator, params...))
			if err != nil {
				t.Fatal(err)
			}
			page := answer.(commands.Page[commands.WebhookRow])
			for _, row := range page.Items {
				keys = append(keys, row.EventKey)
			}
			if page.Next == "" {
				break
			}
			params = []string{"limit=2", "cursor=" + page.Next}
		}
		if strings.Join(keys, " ") != "webhook.a webhook.b webhook.c" {
			t.Fatalf("got %v", keys)
		}
	})
	t.Run("show what the policy lets the caller read, page by page", func(t *testing.T) {
		w := &world{webhooks: hooks, policy: access.Policy{{Name: "r", Roles: []string{"reader"}, Commands: []string{"webhook.list"}, Keys: []string{"webhook.a", "webhook.c"}}}}
		d := newDispatcher(t, w, &bytes.Buffer{})
		first, err := d.Run(t.Context(), request(t, "webhook.list", []string{"reader"}, "limit=1"))
		if err != nil {
			t.Fatal(err)
		}
		page := first.(commands.Page[commands.WebhookRow])
		rest, err := d.Run(t.Context(), request(t, "webhook.list", []string{"reader"}, "cursor="+page.Next))
		if err != nil {
			t.Fatal(err)
		}
		last := rest.(commands.Page[commands.WebhookRow])
		if len(page.Items) != 1 || page.Items[0].EventKey != "webhook.a" || len(last.Items) != 1 || last.Items[0].EventKey != "webhook.c" || last.Next != "" {
			t.Errorf("got %+v, then %+v", page, last)
		}
	})
	t.Run("are recorded with the effective user and the name of an outside one", func(t *testing.T) {
		w := &world{}
		req := request(t, "webhook.list", administrator)
		req.Caller.Principal, req.Caller.Name = "corp:7f3a", "Kim"
		if _, err := newDispatcher(t, w, &bytes.Buffer{}).Run(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		var look access.Look
		if err := json.Unmarshal(w.appended[0].Value, &look); err != nil || look.PrincipalName != "Kim" || look.Effective != "corp:7f3a" {
			t.Errorf("recorded %s, %v", w.appended[0].Value, err)
		}
	})
	t.Run("are answered with the log down, which is said once", func(t *testing.T) {
		var logs bytes.Buffer
		d := newDispatcher(t, &world{webhooks: hooks, failure: errors.New("down")}, &logs)
		if _, err := d.Run(t.Context(), request(t, "webhook.list", administrator)); err != nil {
			t.Fatal(err)
		}
		if strings.Count(logs.String(), "Look was not recorded") != 1 {
			t.Fatalf("logged %q", logs.String())
		}
	})
	t.Run("are refused to those without the right, on the record", func(t *testing.T) {
		w := &world{webhooks: hooks}
		_, err := newDispatcher(t, w, &bytes.Buffer{}).Run(t.Context(), request(t, "webhook.list", nil))
		if !fault.Is(err, fault.Forbidden) || len(w.appended) != 1 || !bytes.Contains(w.appended[0].Value, []byte(`"outcome":"forbidden"`)) {
			t.Fatalf("got %v, %v", err, w.appended)
		}
	})
	for _, bad := range []string{"limit=0", "limit=1001", "cursor=", "cursor=%%"} {
		t.Run("refuse "+bad, func(t *testing.T) {
			_, err := newDispatcher(t, &world{}, &bytes.Buffer{}).Run(t.Context(), request(t, "webhook.list", administrator, bad))
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("got %v", err)
			}
		})
	}
}
