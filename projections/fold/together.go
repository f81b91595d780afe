package fold

import "hooklog/domain/record"

// together is several projections over one topic.
type together struct {
	name string
	all  []Projection
}

// Together makes one projection of several over the same topic, which see its
// records as they are; what they say is for the views of Decoding. They share its
// tail, its batches and its checkpoint: to read a busy topic once for each would
// cost more than to fold it. They keep their own names for their rows, and are
// folded again together.
func Together(name string, all ...Projection) Projection { return together{name, all} }

func (t together) Name() string { return t.name }

func (t together) Topic() string { return t.all[0].Topic() }

// Schema implements Projection.
func (t together) Schema() int { return schemaOf(t.all) }

// Fold implements Projection.
func (t together) Fold(b *Batch, records []record.Record) (func(), error) {
	return foldEach(t.all, b, records)
}

// schemaOf is another one when that of any view has changed, since schemas only
// grow.
func schemaOf[V interface{ Schema() int }](views []V) (schema int) {
	for _, v := range views {
		schema += v.Schema()
	}
	return schema
}

// foldEach folds the records into each view, and gives what all of them do after
// the commit.
func foldEach[V interface {
	Fold(b *Batch, records R) (func(), error)
}, R any](views []V, b *Batch, records R) (func(), error) {
	var committed []func()
	for _, v := range views {
		done, err := v.Fold(b, records)
		if err != nil {
			return nil, err
		}
		if done != nil {
			committed = append(committed, done)
		}
	}
	return func() {
		for _, done := range committed {
			done()
		}
	}, nil
}
