package sessions

import (
	"encoding/json"
	"errors"

	"hooklog/domain/session"
	"hooklog/projections/store"
)

const name = "sessions"

func familyRow(id session.Hash) []byte { return store.Key(name, "family", string(id[:])) }

func outcomeRow(family session.Hash, wishID string) []byte {
	return store.Key(name, "outcome", string(family[:])+wishID)
}

// rows is the State of the domain over a batch. The domain's rules cannot fail,
// reading and writing can: failures are kept, and the batch dropped.
type rows struct {
	batch *store.Batch
	err   error
}

var _ session.State = (*rows)(nil)

func (r *rows) Family(id session.Hash) (f session.Family, known bool) {
	value, known := r.load(familyRow(id))
	if known {
		r.keep(json.Unmarshal(value, &f))
	}
	return f, known
}

func (r *rows) SetFamily(f session.Family) {
	value, err := json.Marshal(f)
	r.keep(err)
	r.keep(r.batch.Set(familyRow(f.ID), value))
}

func (r *rows) Outcome(family session.Hash, wishID string) (session.Outcome, bool) {
	value, known := r.load(outcomeRow(family, wishID))
	return session.Outcome(value), known
}

func (r *rows) SetOutcome(family session.Hash, wishID string, o session.Outcome) {
	r.keep(r.batch.Set(outcomeRow(family, wishID), []byte(o)))
}

func (r *rows) load(key []byte) ([]byte, bool) {
	value, known, err := r.batch.Get(key)
	r.keep(err)
	return value, known
}

func (r *rows) keep(err error) { r.err = errors.Join(r.err, err) }
