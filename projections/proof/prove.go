package proof

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"hooklog/domain/proof"
	"hooklog/projections/store"
)

// Prove gives the hashes that lead from the record at the offset to the root that
// its tree had at the size. It is proof.ErrUnknown that this instance cannot.
func (t *Trees) Prove(n int32, offset, size int64) ([]proof.Hash, error) {
	if offset < 0 || offset >= size {
		return nil, fmt.Errorf("offset %d is not in a tree of size %d", offset, size)
	}
	if size > t.size(n) { // the hashes beside the record may be there, and the record not
		return nil, proof.ErrUnknown
	}
	siblings, err := tlog.ProveRecord(size, offset, t.reader(n))
	if err != nil {
		return nil, err
	}
	hashes := make([]proof.Hash, len(siblings))
	for i, h := range siblings {
		hashes[i] = proof.Hash(h)
	}
	return hashes, nil
}

// Root is the root that the tree had at the size. It is proof.ErrUnknown that this
// instance does not know.
func (t *Trees) Root(n int32, size int64) (proof.Hash, error) {
	root, err := tlog.TreeHash(size, t.reader(n))
	return proof.Hash(root), err
}

func (t *Trees) size(n int32) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p, known := t.partitions[n]; known {
		return p.tree.Size()
	}
	return 0
}

// reader reads the stored hashes of a partition. Those that are there are never
// written again, unless the tree goes on from another head.
func (t *Trees) reader(n int32) tlog.HashReader { return NewReader(t.store, t.topic, n) }

// NewReader reads the hashes of a partition's tree from a store that nobody folds
// into, by their place in the order of tlog.StoredHashIndex.
func NewReader(s *store.Store, topic string, n int32) tlog.HashReader {
	c := &chunks{from: s, topic: topic, n: n, loaded: make(map[int64][]byte)}
	return tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			h, err := c.get(index)
			if err != nil {
				return nil, err
			}
			hashes[i] = tlog.Hash(h)
		}
		return hashes, nil
	})
}
