package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/domain/proof"
	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/transport/commands"
	"hooklog/transport/keyring"
)

// realmWorld is a log in memory and its true fold.
type realmWorld struct {
	world
	state *memory
	mu    sync.Mutex
	told  map[string]chan registry.Outcome
}

func newRealm() *realmWorld {
	w := &realmWorld{told: map[string]chan registry.Outcome{}, state: &memory{
		users: map[string]access.User{}, clients: map[string]access.Client{},
		webhooks: map[secret.TokenHash]webhook.Webhook{}, outcomes: map[string]registry.Outcome{},
		pipelines: map[string]pipeline.Pipeline{},
	}}
	params, err := json.Marshal(registry.InitParams{Admin: access.User{
		Name: access.Administrator, PasswordHash: "$argon2id$x", Roles: []string{access.RoleAdministrator}, Version: 1,
	}})
	if err != nil {
		panic(err)
	}
	registry.Fold(w.state, registry.Command{ID: "i", Name: registry.ClusterInit, Principal: access.System, Effective: access.System, Params: params})
	return w
}

func (w *realmWorld) AppendWait(ctx context.Context, r *record.Record) (record.Position, error) {
	at, err := w.world.AppendWait(ctx, r)
	if err != nil {
		return at, err
	}
	c, err := registry.DecodeCommand(r)
	if err != nil {
		return at, nil // a look
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told[c.ID] <- registry.Fold(w.state, c).Outcome
	return at, nil
}

func (w *realmWorld) Append(r *record.Record, done func(record.Position, error)) {
	done(w.AppendWait(context.Background(), r))
}

func (w *realmWorld) Await(id, _ string) (<-chan registry.Outcome, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := make(chan registry.Outcome, 1)
	w.told[id] = ch
	return ch, func() {}
}

func (w *realmWorld) Policy() access.Policy { return w.state.policy }

func (w *realmWorld) Users() ([]access.User, error) {
	return slices.Collect(maps.Values(w.state.users)), nil
}

func (w *realmWorld) Clients() ([]access.Client, error) {
	return slices.Collect(maps.Values(w.state.clients)), nil
}

func (w *realmWorld) Webhooks(_ string, _ int, readable func(string) bool) (found []webhook.Webhook, _ error) {
	for _, h := range w.state.webhooks {
		if readable(h.EventKey) {
			found = append(found, h)
		}
	}
	return found, nil
}

func (w *realmWorld) Pipeline(name string, version int) (pipeline.Pipeline, bool, error) {
	p, ok := w.state.Pipeline(name, version)
	return p, ok, nil
}

func (w *realmWorld) Pipelines(after string, limit int, readable func(string) bool) (found []pipeline.Pipeline, _ error) {
	for _, name := range slices.Sorted(maps.Keys(w.state.pipelines)) {
		p := w.state.pipelines[name]
		if name == p.Name && name > after && !p.Deleted && readable(name) && len(found) < limit {
			found = append(found, p)
		}
	}
	return found, nil
}

// memory is the folded state.
type memory struct {
	cluster  *registry.Cluster
	users    map[string]access.User
	clients  map[string]access.Client
	policy   access.Policy
	keys     access.SigningKeys
	webhooks map[secret.TokenHash]webhook.Webhook
	outcomes map[string]registry.Outcome
	time     time.Time
	// pipelines are by name, and the versions by name@version.
	pipelines map[string]pipeline.Pipeline
}

func (m *memory) Cluster() (registry.Cluster, bool) { return registry.Cluster{}, m.cluster != nil }

func (m *memory) User(name string) (access.User, bool) { u, ok := m.users[name]; return u, ok }

func (m *memory) Client(id string) (access.Client, bool)     { c, ok := m.clients[id]; return c, ok }
func (m *memory) Policy() access.Policy                      { return m.policy }
func (m *memory) SigningKeys() access.SigningKeys            { return m.keys }
func (m *memory) Outcome(id string) (registry.Outcome, bool) { o, ok := m.outcomes[id]; return o, ok }
func (m *memory) LastTime() time.Time                        { return m.time }
func (m *memory) SetCluster(c registry.Cluster)              { m.cluster = &c }
func (m *memory) SetUser(u access.User)                      { m.users[u.Name] = u }
func (m *memory) SetClient(c access.Client)                  { m.clients[c.ID] = c }
func (m *memory) DropClient(id string)                       { delete(m.clients, id) }
func (m *memory) SetPolicy(p access.Policy)                  { m.policy = p }
func (m *memory) SetSigningKeys(k access.SigningKeys)        { m.keys = k }
func (m *memory) SetCheckpointKey(proof.Key)                 {}
func (m *memory) CheckpointKey() (proof.Key, bool)           { return proof.Key{}, false }
func (m *memory) SetWebhook(w webhook.Webhook)               { m.webhooks[w.Token.Hash] = w }
func (m *memory) DropWebhook(w webhook.Webhook)              { delete(m.webhooks, w.Token.Hash) }
func (m *memory) SetKey(string, secret.TokenHash)            {}
func (m *memory) DropKey(string)                             {}
func (m *memory) KeyTaken(string) bool                       { return false }
func (m *memory) SetOutcome(id string, o registry.Outcome)   { m.outcomes[id] = o }
func (m *memory) SetLastTime(t time.Time)                    { m.time = t }
func (m *memory) Webhook(h secret.TokenHash) (webhook.Webhook, bool) {
	w, ok := m.webhooks[h]
	return w, ok
}

// The past is the fold's own affair.
func (m *memory) KeepWebhook(secret.TokenHash, webhook.Moment, *webhook.Webhook) {}

func (m *memory) WebhookAt(secret.TokenHash, webhook.Moment) (w webhook.Webhook, ok bool) {
	return w, ok
}

func (m *memory) Pipeline(name string, version int) (pipeline.Pipeline, bool) {
	if version != 0 {
		name = fmt.Sprintf("%s@%d", name, version)
	}
	p, ok := m.pipelines[name]
	return p, ok
}

func (m *memory) SetPipeline(p pipeline.Pipeline) {
	m.pipelines[p.Name] = p
	if !p.Deleted {
		m.pipelines[p.Listener()] = p
	}
}

// realm runs commands in a realmWorld.
type realm struct {
	*realmWorld
	t    *testing.T
	d    *commands.Dispatcher
	ring *keyring.Ring
}

func startRealm(t *testing.T) *realm {
	w, ring := newRealm(), newRing(t)
	d := dispatcherWith(w, ring, &bytes.Buffer{})
	t.Cleanup(d.Close)
	return &realm{realmWorld: w, t: t, d: d, ring: ring}
}

// text runs an administrator's command, once more with the same key as a repeat,
// and gives the answer as a caller sees it.
func (r *realm) text(key, name string, params ...string) string {
	r.t.Helper()
	req := request(r.t, name, administrator, params...)
	req.IdempotencyKey = key
	return r.run(req)
}

func (r *realm) run(req commands.Request) string {
	r.t.Helper()
	answer, err := r.d.Run(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("%s: %v", req.Command.Name, err)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

func (r *realm) refused(kind fault.Kind, key, name string, params ...string) string {
	r.t.Helper()
	req := request(r.t, name, administrator, params...)
	req.IdempotencyKey = key
	answer, err := r.d.Run(r.t.Context(), req)
	if !fault.Is(err, kind) {
		r.t.Fatalf("%s: %v, %v, want %s", name, answer, err, kind)
	}
	return err.Error()
}

func into[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
