package registry

import (
	"encoding/json"
	"errors"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/pipeline"
	"hooklog/domain/proof"
	domain "hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/projections/store"
)

const name = "registry"

// The kinds of rows.
var (
	clusterRow   = store.Key(name, "cluster")
	lastTimeRow  = store.Key(name, "time")
	policyRow    = store.Key(name, "policy")
	signingRow   = store.Key(name, "signing")
	provingRow   = store.Key(name, "proving")
	keyPrefix    = store.Key(name, "key", "")
	hookPrefix   = store.Key(name, "webhook", "")
	userPrefix   = store.Key(name, "user", "")
	clientPrefix = store.Key(name, "client", "")
	// A pipeline has one row for what it was last, without the source, and one for
	// each version that was put: accepted calls name the version that they run.
	pipelinePrefix = store.Key(name, "pipeline", "")
)

func userRow(user string) []byte             { return store.Key(name, "user", user) }
func clientRow(id string) []byte             { return store.Key(name, "client", id) }
func hookRow(h secret.TokenHash) []byte      { return append(store.Key(name, "webhook", ""), h[:]...) }
func keyRow(eventKey string) []byte          { return store.Key(name, "key", eventKey) }
func outcomeRow(commandID string) []byte     { return store.Key(name, "outcome", commandID) }
func pipelineRow(named string) []byte        { return store.Key(name, "pipeline", named) }
func hashOf(row []byte) (h secret.TokenHash) { copy(h[:], row); return h }

func versionRow(named string, version int) []byte {
	return store.Key(name, "version", named, store.Ordered(uint64(version)))
}

// rows is the State of the domain over a batch. The domain's rules cannot fail,
// reading and writing can: the first failure is kept, and the batch dropped.
type rows struct {
	batch *store.Batch
	err   error
	// gates are the changes for the receive path, published after the commit.
	gates []gateChange
	// pipelines are new states for the index of listeners, published likewise.
	pipelines []pipeline.Pipeline
	// realm is what the fold started from, or what it made of that.
	realm *realm
}

var _ domain.State = (*rows)(nil)

func (r *rows) Cluster() (c domain.Cluster, ok bool) {
	ok = r.load(clusterRow, &c)
	return c, ok
}

func (r *rows) SetCluster(c domain.Cluster) { r.save(clusterRow, c) }

func (r *rows) User(user string) (u access.User, ok bool) {
	ok = r.load(userRow(user), &u)
	return u, ok
}

func (r *rows) SetUser(u access.User) { r.save(userRow(u.Name), u) }

func (r *rows) Client(id string) (c access.Client, ok bool) {
	ok = r.load(clientRow(id), &c)
	return c, ok
}

func (r *rows) SetClient(c access.Client) { r.save(clientRow(c.ID), c) }

func (r *rows) DropClient(id string) { r.keep(r.batch.Delete(clientRow(id))) }

func (r *rows) Policy() access.Policy { return r.realm.policy }

func (r *rows) SetPolicy(p access.Policy) {
	r.save(policyRow, p)
	r.realm = &realm{p, r.realm.keys}
}

func (r *rows) SigningKeys() access.SigningKeys { return r.realm.keys }

func (r *rows) SetSigningKeys(k access.SigningKeys) {
	r.save(signingRow, k)
	r.realm = &realm{r.realm.policy, k}
}

func (r *rows) CheckpointKey() (k proof.Key, ok bool) {
	ok = r.load(provingRow, &k)
	return k, ok
}

func (r *rows) SetCheckpointKey(k proof.Key) { r.save(provingRow, k) }

func (r *rows) Webhook(hash secret.TokenHash) (w webhook.Webhook, ok bool) {
	ok = r.load(hookRow(hash), &w)
	return w, ok
}

func (r *rows) SetWebhook(w webhook.Webhook) {
	r.save(hookRow(w.Token.Hash), w)
	r.gates = append(r.gates, changeTo(w))
}

func (r *rows) DropWebhook(w webhook.Webhook) {
	r.keep(r.batch.Delete(hookRow(w.Token.Hash)))
	r.gates = append(r.gates, gateChange{hash: w.Token.Hash})
}

func (r *rows) KeyTaken(eventKey string) bool {
	_, ok, err := r.batch.Get(keyRow(eventKey))
	r.keep(err)
	return ok
}

func (r *rows) SetKey(eventKey string, hash secret.TokenHash) {
	r.keep(r.batch.Set(keyRow(eventKey), hash[:]))
}

func (r *rows) DropKey(eventKey string) { r.keep(r.batch.Delete(keyRow(eventKey))) }

func (r *rows) Pipeline(named string, version int) (p pipeline.Pipeline, ok bool) {
	row := pipelineRow(named)
	if version != 0 {
		row = versionRow(named, version)
	}
	ok = r.load(row, &p)
	return p, ok
}

func (r *rows) SetPipeline(p pipeline.Pipeline) {
	if !p.Deleted {
		r.save(versionRow(p.Name, p.Version), p)
	}
	p.Body, p.SealedFor = secret.Sealed{}, ""
	r.save(pipelineRow(p.Name), p)
	r.pipelines = append(r.pipelines, p)
}

func (r *rows) Outcome(commandID string) (o domain.Outcome, ok bool) {
	ok = r.load(outcomeRow(commandID), &o)
	return o, ok
}

func (r *rows) SetOutcome(commandID string, o domain.Outcome) { r.save(outcomeRow(commandID), o) }

func (r *rows) LastTime() (t time.Time) {
	r.load(lastTimeRow, &t)
	return t
}

func (r *rows) SetLastTime(t time.Time) { r.save(lastTimeRow, t) }

func (r *rows) load(key []byte, into any) bool {
	value, ok, err := r.batch.Get(key)
	if err == nil && ok {
		err = json.Unmarshal(value, into)
	}
	r.keep(err)
	return ok && err == nil
}

func (r *rows) save(key []byte, v any) {
	value, err := json.Marshal(v)
	if err == nil {
		err = r.batch.Set(key, value)
	}
	r.keep(err)
}

func (r *rows) keep(err error) {
	if err != nil {
		r.err = errors.Join(r.err, err)
	}
}
