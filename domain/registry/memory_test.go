package registry_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/pipeline"
	"hooklog/domain/proof"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

// memory is the smallest State: maps that can be dumped and read back.
type memory struct {
	Init     *registry.Cluster
	Users    map[string]access.User
	Clients  map[string]access.Client
	Rules    access.Policy
	Signing  access.SigningKeys
	Proves   *proof.Key
	Webhooks map[string]webhook.Webhook
	History  map[string][]kept
	Keys     map[string]string
	// Pipelines are by name, and the versions by name@version.
	Pipelines map[string]pipeline.Pipeline
	Outcomes  map[string]registry.Outcome
	Time      time.Time
}

// kept is what a webhook was since a moment.
type kept struct {
	Offset  int64
	Time    time.Time
	Webhook *webhook.Webhook
}

var _ registry.State = (*memory)(nil)

func newMemory() *memory {
	return &memory{
		Users:     map[string]access.User{},
		Clients:   map[string]access.Client{},
		Webhooks:  map[string]webhook.Webhook{},
		History:   map[string][]kept{},
		Pipelines: map[string]pipeline.Pipeline{},
		Keys:      map[string]string{},
		Outcomes:  map[string]registry.Outcome{},
	}
}

func (m *memory) Cluster() (registry.Cluster, bool) {
	if m.Init == nil {
		return registry.Cluster{}, false
	}
	return *m.Init, true
}

func (m *memory) User(name string) (access.User, bool) { u, ok := m.Users[name]; return u, ok }

func (m *memory) Client(id string) (access.Client, bool) { c, ok := m.Clients[id]; return c, ok }

func (m *memory) Policy() access.Policy               { return m.Rules }
func (m *memory) SigningKeys() access.SigningKeys     { return m.Signing }
func (m *memory) SetCheckpointKey(k proof.Key)        { m.Proves = &k }
func (m *memory) SetClient(c access.Client)           { m.Clients[c.ID] = c }
func (m *memory) DropClient(id string)                { delete(m.Clients, id) }
func (m *memory) SetPolicy(p access.Policy)           { m.Rules = p }
func (m *memory) SetSigningKeys(k access.SigningKeys) { m.Signing = k }

func (m *memory) CheckpointKey() (proof.Key, bool) {
	if m.Proves == nil {
		return proof.Key{}, false
	}
	return *m.Proves, true
}

func (m *memory) Webhook(h secret.TokenHash) (webhook.Webhook, bool) {
	w, ok := m.Webhooks[h.String()]
	return w, ok
}

func (m *memory) KeepWebhook(h secret.TokenHash, since webhook.Moment, w *webhook.Webhook) {
	m.History[h.String()] = append(m.History[h.String()], kept{since.Offset, since.Time, w})
}

func (m *memory) WebhookAt(h secret.TokenHash, at webhook.Moment) (webhook.Webhook, bool) {
	for _, k := range slices.Backward(m.History[h.String()]) {
		if at.Time.IsZero() && k.Offset <= at.Offset || !at.Time.IsZero() && !k.Time.After(at.Time) {
			if k.Webhook == nil {
				return webhook.Webhook{}, false
			}
			return *k.Webhook, true
		}
	}
	return webhook.Webhook{}, false
}

func (m *memory) KeyTaken(key string) bool { _, ok := m.Keys[key]; return ok }

func (m *memory) Outcome(id string) (registry.Outcome, bool) { o, ok := m.Outcomes[id]; return o, ok }
func (m *memory) LastTime() time.Time                        { return m.Time }
func (m *memory) SetCluster(c registry.Cluster)              { m.Init = &c }
func (m *memory) SetUser(u access.User)                      { m.Users[u.Name] = u }
func (m *memory) SetWebhook(w webhook.Webhook)               { m.Webhooks[w.Token.Hash.String()] = w }

func (m *memory) DropWebhook(w webhook.Webhook)            { delete(m.Webhooks, w.Token.Hash.String()) }
func (m *memory) SetKey(key string, h secret.TokenHash)    { m.Keys[key] = h.String() }
func (m *memory) DropKey(key string)                       { delete(m.Keys, key) }
func (m *memory) SetOutcome(id string, o registry.Outcome) { m.Outcomes[id] = o }
func (m *memory) SetLastTime(t time.Time)                  { m.Time = t }

func (m *memory) Pipeline(name string, version int) (pipeline.Pipeline, bool) {
	if version != 0 {
		name = fmt.Sprintf("%s@%d", name, version)
	}
	p, ok := m.Pipelines[name]
	return p, ok
}

func (m *memory) SetPipeline(p pipeline.Pipeline) {
	m.Pipelines[p.Name] = p
	if !p.Deleted {
		m.Pipelines[p.Listener()] = p
	}
}

// dump is the whole state as text, in order.
func (m *memory) dump(t testing.TB) string {
	t.Helper()
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// restored is the state that an instance reads from its store after a restart.
func restored(t testing.TB, dump string) *memory {
	t.Helper()
	m := newMemory()
	if err := json.Unmarshal([]byte(dump), m); err != nil {
		t.Fatal(err)
	}
	return m
}

const passwordHash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"

var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// token is a TokenRef that is told from others by one digit.
func token(n int) webhook.TokenRef {
	t, err := secret.ParseToken("5eedc0de-1234-4abc-8def-01234567890" + string(rune('0'+n)))
	if err != nil {
		panic(err)
	}
	return webhook.TokenRef{Hash: t.Hash(), Last6: t.Last6(), Sealed: secret.NewSealed("sealed"), SealedFor: "c"}
}

// command is an administrator's command on monday.
func command(id, name string, params any) registry.Command {
	c := registry.Command{
		ID: id, Name: name, Fingerprint: "f-" + id,
		Principal: "kim", Effective: "kim", Roles: []string{access.RoleAdministrator}, Time: monday,
	}
	if params != nil {
		text, err := json.Marshal(params)
		if err != nil {
			panic(err)
		}
		c.Params = text
	}
	return c
}

func create(id string, tokenNumber int, key string) registry.Command {
	return command(id, "webhook.put", webhook.Put{Create: true, Token: token(tokenNumber), EventKey: &key}.WithDefaults())
}

func edit(id string, tokenNumber int, put webhook.Put) registry.Command {
	put.Token = token(tokenNumber)
	return command(id, "webhook.put", put)
}

func remove(id string, tokenNumber int) registry.Command {
	return command(id, "webhook.delete", token(tokenNumber))
}

func get(id string, tokenNumber int) registry.Command {
	return command(id, "webhook.get", token(tokenNumber))
}

// initialise is an operator's first start.
func initialise(id, check string) registry.Command {
	c := command(id, registry.ClusterInit, registry.InitParams{
		Check: check,
		Admin: access.User{Name: access.Administrator, PasswordHash: passwordHash, Roles: []string{access.RoleAdministrator}, Version: 1},
	})
	return bySystem(c)
}

func reset(id, hash string) registry.Command {
	return bySystem(command(id, registry.AdminReset, registry.ResetParams{PasswordHash: hash}))
}

func putUser(id, name, hash string, roles ...string) registry.Command {
	return command(id, "user.put", access.UserPut{Name: name, PasswordHash: hash, Roles: roles})
}

func putClient(id string, put access.ClientPut) registry.Command {
	return command(id, "client.put", put)
}

func putRule(id string, rule access.Rule) registry.Command { return command(id, "policy.put", rule) }

// naming is a command that names one user, client or rule.
func naming(id, name, what string) registry.Command {
	return command(id, name, access.Named{Name: what})
}

func signingKey(id string) access.SigningKey {
	return access.SigningKey{
		ID: id, Algorithm: access.KeyAlgorithm, Public: json.RawMessage(`{"kty":"EC"}`),
		Sealed: secret.NewSealed("sealed"), SealedFor: "c",
	}
}

func rotate(id, key string) registry.Command { return command(id, "key.rotate", signingKey(key)) }

func initKey(id, key string) registry.Command {
	return bySystem(command(id, registry.KeyInit, signingKey(key)))
}

// source is a pipeline that listens to the event keys.
func source(eventKeys ...string) pipeline.Source {
	return pipeline.Source{Body: secret.NewSealed("sealed"), SealedFor: "c", EventKeys: eventKeys}
}

func putPipeline(id, name string, s pipeline.Source) registry.Command {
	return command(id, "pipeline.put", pipeline.Put{Name: name, Source: s})
}

func getPipeline(id, name string, version int) registry.Command {
	return command(id, "pipeline.get", registry.PipelineRef{Name: name, Version: version})
}

func removePipeline(id, name string) registry.Command {
	return command(id, "pipeline.delete", pipeline.Delete{Name: name})
}

func runPipeline(id, name string) registry.Command {
	return command(id, "pipeline.run", registry.RunParams{Name: name})
}

func retry(id string, pipelines ...string) registry.Command {
	return command(id, "run.retry", registry.RetryParams{CorrelationID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", Pipelines: pipelines})
}

func bySystem(c registry.Command) registry.Command { return by(c, access.System) }

// by is the command of somebody else.
func by(c registry.Command, principal string, roles ...string) registry.Command {
	c.Principal, c.Effective, c.Roles = principal, principal, roles
	return c
}

// folded is the state after the commands.
func folded(commands ...registry.Command) *memory {
	m := newMemory()
	for _, c := range commands {
		registry.Fold(m, c)
	}
	return m
}
