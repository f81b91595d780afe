// Package audit is the view of who did what, of svc.command and svc.access in one
// order of time. The commands it does not fold itself: the registry tells it of
// each one that it decides, in the batch in which it does. It shows no secret,
// since domain/audit gives it none, and knows no policy: whoever asks says which
// keys may be seen.
package audit

import (
	"encoding/json"
	"slices"

	"hooklog/domain/access"
	"hooklog/domain/audit"
	"hooklog/domain/record"
	domain "hooklog/domain/registry"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

const name = "audit"

// entries are the rows, the oldest first. Of one moment, the topics and their
// partitions follow each other, and each keeps its own order.
var entries = store.Key(name, "entry", "")

func row(e *audit.Entry) []byte {
	return slices.Concat(entries, []byte(moment(e.Time)), []byte(e.Topic), []byte{0},
		[]byte(store.Ordered(uint64(e.Partition))), []byte(store.Ordered(uint64(e.Offset))))
}

// Audit is the projection of svc.access, and the witness of the commands.
type Audit struct {
	store *store.Store
}

var _ fold.Projection = (*Audit)(nil)

// New opens the projection over what the store has folded so far.
func New(s *store.Store) *Audit { return &Audit{store: s} }

// Name implements fold.Projection.
func (*Audit) Name() string { return name }

// Topic implements fold.Projection.
func (*Audit) Topic() string { return record.TopicAccess }

// Schema implements fold.Projection, and counts for the registry as well.
func (*Audit) Schema() int { return 1 }

// Fold implements fold.Projection.
func (*Audit) Fold(b *fold.Batch, records []record.Record) (func(), error) {
	for i := range records {
		at := records[i].Position
		entry := audit.OfInvalid(&records[i])
		decoded, err := access.Decode(&records[i])
		if err == nil {
			entry = audit.OfAccess(at, decoded)
		} else if err := b.Park(at, err); err != nil {
			return nil, err
		}
		if err := save(b.Batch, entry); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// Decided puts a command on the audit.
func (*Audit) Decided(b *store.Batch, at record.Position, d domain.Decision) error {
	entry, err := audit.OfDecision(at, d)
	if err != nil {
		return err
	}
	return save(b, entry)
}

// Invalid puts a record on the audit that is no command.
func (*Audit) Invalid(b *store.Batch, r *record.Record) error { return save(b, audit.OfInvalid(r)) }

func save(b *store.Batch, e audit.Entry) error {
	value, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return b.Set(row(&e), value)
}
