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

// Schema is another one when any of them has changed, since schemas only grow.
func (t together) Schema() (schema int) {
	for _, p := range t.all {
		schema += p.Schema()
	}
	return schema
}

func (t together) Fold(b *Batch, records []record.Record) (func(), error) {
	var committed []func()
	for _, p := range t.all {
		done, err := p.Fold(b, records)
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
