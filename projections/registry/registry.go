// Package registry is the view of svc.command: the users, clients, webhooks and
// pipelines that live, what is allowed, and what each command came to. What every
// call or command needs is held in memory as well: the gates of the webhooks, who
// listens to their events, the policy and the signing keys. It decides nothing:
// that is domain/registry, over the rows of this package.
package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"hooklog/domain/record"
	domain "hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

// Registry is the projection.
type Registry struct {
	store     *store.Store
	witnesses []Witness

	gates     gates
	realm     atomic.Pointer[realm]
	listeners listeners

	waitersMu sync.Mutex
	waiters   map[waitKey][]chan domain.Outcome
}

// Witness writes rows of its own about every record that the registry folds, in
// the same batch: so it shares the tail and the checkpoint, and needs no decision
// of its own.
type Witness interface {
	// Schema is as that of a projection.
	Schema() int
	Decided(b *store.Batch, at record.Position, d domain.Decision) error
	// Invalid tells of a record that is no command.
	Invalid(b *store.Batch, r *record.Record) error
}

// waitKey tells the outcome of one request from that of another request under
// the same command id.
type waitKey struct{ commandID, fingerprint string }

var _ fold.Projection = (*Registry)(nil)

// New opens the projection over what the store has folded so far.
func New(s *store.Store, witnesses ...Witness) (*Registry, error) {
	r := &Registry{
		store:     s,
		witnesses: witnesses,
		waiters:   make(map[waitKey][]chan domain.Outcome),
	}
	if err := r.loadGates(); err != nil {
		return nil, fmt.Errorf("load webhooks: %w", err)
	}
	if err := r.loadRealm(); err != nil {
		return nil, fmt.Errorf("load policy and keys: %w", err)
	}
	if err := r.loadListeners(); err != nil {
		return nil, fmt.Errorf("load pipelines: %w", err)
	}
	return r, nil
}

func (r *Registry) loadGates() error {
	const portion = 1 << 16 // bounds the memory; rows come in the order of the shards
	var changes []gateChange
	var failed error
	err := r.store.Scan(hookPrefix, nil, func(_, value []byte) bool {
		var w webhook.Webhook
		failed = json.Unmarshal(value, &w)
		changes = append(changes, changeTo(w))
		if len(changes) == portion {
			r.gates.publish(changes)
			changes = changes[:0]
		}
		return failed == nil
	})
	r.gates.publish(changes)
	return errors.Join(err, failed)
}

// Name implements fold.Projection.
func (*Registry) Name() string { return name }

// Topic implements fold.Projection.
func (*Registry) Topic() string { return record.TopicCommand }

// Schema implements fold.Projection. It is another one when that of a witness has
// changed, since schemas only grow.
func (r *Registry) Schema() int {
	schema := 3
	for _, w := range r.witnesses {
		schema += w.Schema()
	}
	return schema
}

type decided struct {
	key     waitKey
	outcome domain.Outcome
}

// Fold implements fold.Projection.
func (r *Registry) Fold(b *fold.Batch, records []record.Record) (func(), error) {
	state := &rows{batch: b.Batch, realm: r.realm.Load()}
	outcomes := make([]decided, 0, len(records))
	for i := range records {
		c, err := domain.DecodeCommand(&records[i])
		if err != nil {
			if err := r.park(b, &records[i], err); err != nil {
				return nil, err
			}
			continue
		}
		d := domain.Fold(state, c)
		for _, w := range r.witnesses {
			if err := w.Decided(b.Batch, records[i].Position, d); err != nil {
				return nil, err
			}
		}
		outcomes = append(outcomes, decided{waitKey{c.ID, c.Fingerprint}, d.Outcome})
	}
	return func() {
		r.gates.publish(state.gates)
		r.realm.Store(state.realm)
		r.listeners.publish(state.pipelines)
		r.wake(outcomes)
	}, state.err
}

func (r *Registry) park(b *fold.Batch, invalid *record.Record, reason error) error {
	for _, w := range r.witnesses {
		if err := w.Invalid(b.Batch, invalid); err != nil {
			return err
		}
	}
	return b.Park(invalid.Position, reason)
}

// Gate finds the gate of an enabled webhook.
func (r *Registry) Gate(hash secret.TokenHash) (webhook.Gate, bool) { return r.gates.find(hash) }

// Await gives a channel that gets the outcome once the command is folded. It
// must be asked for before the command is appended; stop ends the waiting.
func (r *Registry) Await(commandID, fingerprint string) (outcome <-chan domain.Outcome, stop func()) {
	key := waitKey{commandID, fingerprint}
	ch := make(chan domain.Outcome, 1)
	r.waitersMu.Lock()
	r.waiters[key] = append(r.waiters[key], ch)
	r.waitersMu.Unlock()
	return ch, func() { r.forget(key, ch) }
}

func (r *Registry) wake(outcomes []decided) {
	r.waitersMu.Lock()
	defer r.waitersMu.Unlock()
	for _, d := range outcomes {
		for _, ch := range r.waiters[d.key] {
			ch <- d.outcome // never blocks: each gets one, and is then forgotten
		}
		delete(r.waiters, d.key)
	}
}

func (r *Registry) forget(key waitKey, ch chan domain.Outcome) {
	r.waitersMu.Lock()
	defer r.waitersMu.Unlock()
	for i, other := range r.waiters[key] {
		if other == ch {
			r.waiters[key] = append(r.waiters[key][:i], r.waiters[key][i+1:]...)
			break
		}
	}
	if len(r.waiters[key]) == 0 {
		delete(r.waiters, key)
	}
}

// Cluster gives what the first command said; false means that there was none.
func (r *Registry) Cluster() (domain.Cluster, bool, error) {
	var c domain.Cluster
	ok, err := r.load(clusterRow, &c)
	return c, ok, err
}

// Webhooks lists the living webhooks that are readable, in the order of their
// event keys, at most limit of them (0: all), from the first key behind after.
func (r *Registry) Webhooks(after string, limit int, readable func(eventKey string) bool) ([]webhook.Webhook, error) {
	from := keyPrefix
	if after != "" {
		from = keyRow(after)
	}
	var hashes []secret.TokenHash
	err := r.store.Scan(keyPrefix, from, func(key, hash []byte) bool {
		if readable(string(key[len(keyPrefix):])) {
			hashes = append(hashes, hashOf(hash))
		}
		return limit == 0 || len(hashes) < limit
	})
	if err != nil {
		return nil, err
	}
	list := make([]webhook.Webhook, 0, len(hashes))
	for _, h := range hashes {
		var w webhook.Webhook
		ok, err := r.load(hookRow(h), &w)
		if err != nil {
			return nil, err
		}
		// It may have been deleted since the scan, or moved out of sight.
		if ok && readable(w.EventKey) {
			list = append(list, w)
		}
	}
	return list, nil
}

func (r *Registry) load(key []byte, into any) (bool, error) {
	value, ok, err := r.store.Get(key)
	if err != nil || !ok {
		return false, err
	}
	return true, json.Unmarshal(value, into)
}
