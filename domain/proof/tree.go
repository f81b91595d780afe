// Package proof is what the log's integrity is proved with: the Merkle trees of
// RFC 6962 over the records of a partition, the checkpoint that says how far the
// trees were at a moment, and the receipt of one record. It makes and checks
// them as pure values; signing, storing and reading the log happen elsewhere.
//
// A tree's leaf i is the record at offset i. A tree begins at offset 0, or, when
// retention had removed the beginning of a partition before any checkpoint
// covered it, at the first offset that is left: then the tree is begun there,
// every leaf before it is the absent leaf, and each head says so, where it is
// signed with the rest. What is before is proved by older checkpoints or not at
// all; what comes after is proved as in any tree.
package proof

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"hooklog/domain/record"
)

// Hash is a hash of a tree.
type Hash = record.Digest

// The prefixes of RFC 6962 keep a leaf from being taken for a node.
const (
	leafPrefix = 0x00
	nodePrefix = 0x01
)

// LeafHash is the hash of a record as a leaf.
func LeafHash(r *record.Record) Hash {
	h := sha256.New()
	_, _ = h.Write([]byte{leafPrefix})
	_, _ = h.Write(record.Leaf(r))
	return Hash(h.Sum(nil))
}

// NodeHash is the hash of two neighbouring subtrees.
func NodeHash(left, right Hash) Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = nodePrefix
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// absentLeaf stands for a record from before the tree was begun. No record has
// an empty encoding, so none has this hash.
var absentLeaf = Hash(sha256.Sum256([]byte{leafPrefix}))

// Tree is a tree that grows at its right end. It keeps the right edge only: the
// roots of the complete subtrees that it consists of, from left to right. The
// zero value is the empty tree.
type Tree struct {
	begun int64
	size  int64
	edge  []Hash
	// complete is the answer of Append, kept to be used again.
	complete []Hash
}

// Begin is a tree that is begun at an offset.
func Begin(offset int64) Tree {
	t := Tree{begun: offset, size: offset}
	subtree := absentLeaf
	for n := offset; n > 0; n >>= 1 {
		if n&1 == 1 {
			t.edge = append(t.edge, subtree)
		}
		subtree = NodeHash(subtree, subtree)
	}
	slices.Reverse(t.edge)
	return t
}

// Resume is the tree of a head. It refuses a head whose edge does not give its
// root.
func Resume(h Head) (Tree, error) {
	if h.Begun < 0 || h.Size < h.Begun {
		return Tree{}, fmt.Errorf("a tree of size %d cannot have been begun at %d", h.Size, h.Begun)
	}
	if len(h.Edge) != bits.OnesCount64(uint64(h.Size)) {
		return Tree{}, fmt.Errorf("the edge of a tree of size %d has %d hashes", h.Size, len(h.Edge))
	}
	t := Tree{begun: h.Begun, size: h.Size, edge: slices.Clone(h.Edge)}
	if t.Root() != h.Root {
		return Tree{}, errors.New("the edge does not give the root")
	}
	return t, nil
}

// Append adds a leaf and gives the hashes of the subtrees that it completed: the
// leaf itself, then each larger one. The answer holds until the next Append.
func (t *Tree) Append(leaf Hash) []Hash {
	t.complete = append(t.complete[:0], leaf)
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.edge) - 1
		leaf = NodeHash(t.edge[last], leaf)
		t.edge = t.edge[:last]
		t.complete = append(t.complete, leaf)
	}
	t.edge = append(t.edge, leaf)
	t.size++
	return t.complete
}

// Size is the number of leaves, the absent ones included: the offset of the next
// record.
func (t *Tree) Size() int64 { return t.size }

// Begun is the offset of the first record of the tree.
func (t *Tree) Begun() int64 { return t.begun }

// Root is the hash of the whole tree.
func (t *Tree) Root() Hash { return RootOf(t.edge) }

// RootOf is the root of a tree with that edge.
func RootOf(edge []Hash) Hash {
	if len(edge) == 0 {
		return sha256.Sum256(nil)
	}
	last := len(edge) - 1
	root := edge[last]
	for _, left := range slices.Backward(edge[:last]) {
		root = NodeHash(left, root)
	}
	return root
}

// Clone is a tree that grows by itself.
func (t *Tree) Clone() Tree { return Tree{begun: t.begun, size: t.size, edge: slices.Clone(t.edge)} }

// Edge is the right edge from left to right, from large to small.
func (t *Tree) Edge() []Hash { return slices.Clone(t.edge) }
