package fold

import "hooklog/domain/record"

// Decoded is a record with what it says.
type Decoded[T any] struct {
	*record.Record
	Value T
}

// View is one of several ways to see the records of a topic.
type View[T any] interface {
	// Schema is that of Projection.
	Schema() int
	// Fold is that of Projection, but for records that cannot be decoded: they do
	// not come here.
	Fold(b *Batch, records []Decoded[T]) (committed func(), err error)
}

// decoding is several views of one topic.
type decoding[T any] struct {
	name, topic string
	decode      func(*record.Record) (T, error)
	views       []View[T]
}

// Decoding makes one projection of several views of a topic. They share its tail,
// its batches, its checkpoint and the work of decoding: to read and decode a busy
// topic once for each would cost more than to fold it. Their rows lie below names
// of their own, and are folded again together.
func Decoding[T any](name, topic string, decode func(*record.Record) (T, error), views ...View[T]) Projection {
	return &decoding[T]{name, topic, decode, views}
}

func (d *decoding[T]) Name() string { return d.name }

func (d *decoding[T]) Topic() string { return d.topic }

func (d *decoding[T]) Schema() int { return schemaOf(d.views) }

func (d *decoding[T]) Fold(b *Batch, records []record.Record) (func(), error) {
	decoded := make([]Decoded[T], 0, len(records))
	for i := range records {
		value, err := d.decode(&records[i])
		if err != nil {
			if err := b.Park(records[i].Position, err); err != nil {
				return nil, err
			}
			continue
		}
		decoded = append(decoded, Decoded[T]{&records[i], value})
	}
	return foldEach(d.views, b, decoded)
}
