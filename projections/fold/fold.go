// Package fold drives the projections: it tails a topic, folds what it reads
// into one batch together with the checkpoint, and only then tells those who
// wait. It never skips a record, never goes back by itself, and stops with a
// reason rather than fold a log it does not know. It opens no connection: the
// log comes through Source.
package fold

import (
	"context"
	"fmt"

	"hooklog/domain/record"
	"hooklog/projections/store"
)

// Source is the log as the fold needs it.
type Source interface {
	// Describe tells what the topic is now.
	Describe(ctx context.Context, topic string) (record.Topic, error)
	// Bounds tells only what the topic's partitions hold now.
	Bounds(ctx context.Context, topic string) ([]record.Bounds, error)
	// ReadAt reads the one record at a position.
	ReadAt(ctx context.Context, at record.Position) (record.Record, error)
	// Tail reads on from a position.
	Tail(ctx context.Context, from record.Position) (Tail, error)
}

// Tail gives the records of a partition in order.
type Tail interface {
	// Next waits for at least one record.
	Next(ctx context.Context) ([]record.Record, error)
	Close()
}

// Projection is a view that is folded from a topic.
type Projection interface {
	// Name is the projection's key space; it never changes.
	Name() string
	// Topic is what it is folded from.
	Topic() string
	// Schema counts the forms of its rows; another one is not folded further.
	Schema() int
	// Fold applies records of one partition, in order. The returned function runs
	// after the commit: it publishes to memory and wakes those who wait; nil is
	// nothing to do. A record that cannot be decoded is parked, which is no error.
	Fold(b *Batch, records []record.Record) (committed func(), err error)
}

// Batch is a store batch that can also park records.
type Batch struct {
	*store.Batch
	projection string
	parked     map[record.Position]struct{}
}

// Park keeps a record that no release can decode: where it lies and why. It is
// one parked record, however many views cannot decode it.
func (b *Batch) Park(at record.Position, reason error) error {
	if b.parked == nil {
		b.parked = make(map[record.Position]struct{})
	}
	b.parked[at] = struct{}{}
	key := store.Key("parked", b.projection, at.Topic, store.Ordered(uint64(at.Partition))+store.Ordered(uint64(at.Offset)))
	return b.Set(key, []byte(reason.Error()))
}

// Stopped is the reason why a fold stopped for good, with what an operator can do.
type Stopped struct {
	Projection string
	At         record.Position
	Reason     string
	Hint       string
	// Stale says that the rows are of another form: to fold the log again is all
	// that it takes.
	Stale bool
	// Lost says that the log has not what was folded before: folding it again
	// would hide that.
	Lost bool
}

func (s *Stopped) Error() string {
	return fmt.Sprintf("projection %s stopped at %s: %s; %s", s.Projection, s.At, s.Reason, s.Hint)
}
