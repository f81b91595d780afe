package kafka

import (
	"context"
	"hash/maphash"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/semaphore"

	"hooklog/domain/record"
)

const (
	// nearPartitions is of how many partitions the last batch is kept, and
	// nearBytes how large such a batch may be.
	nearPartitions = 64
	nearBytes      = 1 << 20
	nearLocks      = 64
)

// Near reads single records and keeps their neighbours for a moment: calls that
// come at the same time have their events in the same batch, and whoever works on
// them reads one after the other.
type Near struct {
	log     *Log
	batches *lru.Cache[record.Position, []*kgo.Record] // by partition, at offset 0
	seed    maphash.Seed
	locks   [nearLocks]*semaphore.Weighted
}

// NewNear makes a reader of the log.
func NewNear(log *Log) (*Near, error) {
	batches, err := lru.New[record.Position, []*kgo.Record](nearPartitions)
	if err != nil {
		return nil, err
	}
	n := &Near{log: log, batches: batches, seed: maphash.MakeSeed()}
	for i := range n.locks {
		n.locks[i] = semaphore.NewWeighted(1)
	}
	return n, nil
}

// ReadAt is Log.ReadAt. Those who read a partition at the same time wait for each
// other, because the first may bring what the others want.
func (n *Near) ReadAt(ctx context.Context, at record.Position) (record.Record, error) {
	if found := n.find(at); found != nil {
		return incoming(found), nil
	}
	lock := n.locks[maphash.Comparable(n.seed, partitionOf(at))%nearLocks]
	if err := lock.Acquire(ctx, 1); err != nil {
		return record.Record{}, unavailable(err)
	}
	defer lock.Release(1)
	if found := n.find(at); found != nil {
		return incoming(found), nil
	}
	batch, err := n.log.readBatch(ctx, at)
	if err != nil {
		return record.Record{}, err
	}
	n.keep(at, batch)
	return incoming(batch[0]), nil
}

func partitionOf(at record.Position) record.Position {
	at.Offset = 0
	return at
}

func (n *Near) find(at record.Position) *kgo.Record {
	batch, ok := n.batches.Get(partitionOf(at))
	if !ok {
		return nil
	}
	// Offsets have no gaps, but for what others left on the log.
	if i := at.Offset - batch[0].Offset; i >= 0 && i < int64(len(batch)) && batch[i].Offset == at.Offset {
		return batch[i]
	}
	return nil
}

func (n *Near) keep(at record.Position, batch []*kgo.Record) {
	size := 0
	for _, r := range batch {
		size += len(r.Value)
	}
	if len(batch) > 1 && size <= nearBytes {
		n.batches.Add(partitionOf(at), batch)
	}
}
