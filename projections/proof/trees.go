// Package proof is the view of a topic that proves it: a Merkle tree for each
// partition, whose leaves are all its records, also those that nobody can decode.
// It keeps every hash of the trees, in the order in which they came to be, so that
// any record can be proved to lie in any later state of its tree. It signs nothing
// and reads no checkpoint.
//
// A fold that finds the beginning of a partition gone, because it had expired,
// begins the tree at the first record that is left: what is folded depends on the
// log alone. When a signed checkpoint knows the tree from further back, Adopt lets
// it go on from there instead.
package proof

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"hooklog/domain/proof"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

const name = "proof"

// Trees is the projection of one topic.
type Trees struct {
	topic string
	store *store.Store

	mu         sync.Mutex
	partitions map[int32]*partition
}

// partition is the tree of one partition as it was committed last.
type partition struct {
	tree proof.Tree
	// folding says that a batch is under way, which began with the tree as it is.
	folding bool
	// adopt is what the tree is to go on from when the batch has been committed.
	adopt *proof.Head
}

var _ fold.Projection = (*Trees)(nil)

// New opens the projection of a topic over what the store has folded so far.
func New(s *store.Store, topic string) (*Trees, error) {
	t := &Trees{topic: topic, store: s, partitions: make(map[int32]*partition)}
	heads, err := loadHeads(s, topic)
	if err != nil {
		return nil, fmt.Errorf("load the trees of %s: %w", topic, err)
	}
	for _, h := range heads {
		tree, err := proof.Resume(h)
		if err != nil {
			return nil, fmt.Errorf("load the tree of %s/%d: %w", topic, h.Partition, err)
		}
		t.partitions[h.Partition] = &partition{tree: tree}
	}
	return t, nil
}

// Name implements fold.Projection.
func (*Trees) Name() string { return name }

// Topic implements fold.Projection.
func (t *Trees) Topic() string { return t.topic }

// Schema implements fold.Projection.
func (*Trees) Schema() int { return 1 }

// Fold implements fold.Projection.
func (t *Trees) Fold(b *fold.Batch, records []record.Record) (func(), error) {
	n := records[0].Partition
	tree := t.begin(n)
	rows := newRows(b.Batch, t.topic, n)
	for i := range records {
		r := &records[i]
		if r.Offset < tree.Size() { // the tree was adopted from behind it
			continue
		}
		if r.Offset > tree.Size() { // what lay between had expired
			tree = proof.Begin(r.Offset)
			if err := rows.setEdge(&tree); err != nil {
				return nil, err
			}
		}
		if err := rows.append(&tree, proof.LeafHash(r)); err != nil {
			return nil, err
		}
	}
	return func() { t.commit(n, tree) }, rows.flush(&tree)
}

// begin gives the tree for a batch, which nobody else changes until commit.
func (t *Trees) begin(n int32) proof.Tree {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, known := t.partitions[n]
	if !known {
		p = new(partition)
		t.partitions[n] = p
	}
	p.folding = true
	return p.tree.Clone()
}

func (t *Trees) commit(n int32, tree proof.Tree) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.partitions[n]
	p.tree, p.folding = tree, false
	if p.adopt == nil {
		return
	}
	// It was asked for, is not urgent, and will be asked for again.
	_ = t.goOn(p, *p.adopt)
	p.adopt = nil
}

// Heads are the heads of the trees that have been begun, in the order of their
// partitions.
func (t *Trees) Heads() []proof.Head {
	t.mu.Lock()
	defer t.mu.Unlock()
	var heads []proof.Head
	for _, n := range slices.Sorted(maps.Keys(t.partitions)) {
		if p := t.partitions[n]; p.tree.Size() > 0 {
			heads = append(heads, proof.HeadOf(t.topic, n, &p.tree))
		}
	}
	return heads
}

// Adopt lets the tree of a partition go on from a head that was signed, with the
// records behind it that have been folded. A batch under way is waited for.
func (t *Trees) Adopt(h proof.Head) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, known := t.partitions[h.Partition]
	switch {
	case !known:
		p = new(partition)
		t.partitions[h.Partition] = p
	case p.folding:
		p.adopt = &h
		return nil
	}
	return t.goOn(p, h)
}

// goOn makes the tree anew behind the head, of the leaves that are known.
func (t *Trees) goOn(p *partition, h proof.Head) error {
	tree, err := proof.Resume(h)
	if err != nil {
		return err
	}
	if h.Size < p.tree.Begun() {
		return fmt.Errorf("the tree of %s/%d begins behind what it is to go on from", t.topic, h.Partition)
	}
	b := t.store.NewBatch()
	defer func() { _ = b.Close() }()
	rows := newRows(b, t.topic, h.Partition)
	if err := rows.setEdge(&tree); err != nil {
		return err
	}
	for offset := h.Size; offset < p.tree.Size(); offset++ {
		leaf, err := rows.leaf(offset)
		if err != nil {
			return err
		}
		if err := rows.append(&tree, leaf); err != nil {
			return err
		}
	}
	if err := rows.flush(&tree); err != nil {
		return err
	}
	if err := b.Commit(); err != nil {
		return err
	}
	p.tree = tree
	return nil
}
