package proof

import (
	"cmp"
	"errors"
	"slices"
)

// ErrUnknown says that an instance does not keep a hash: it is of records that had
// expired before the instance folded them, or of some that it has not folded yet.
var ErrUnknown = errors.New("the hash is not known here")

// Signed is a checkpoint with its signature.
type Signed struct {
	Checkpoint
	// Note is the signed text, as it is given out.
	Note string
}

// Advance gives the heads of the checkpoint behind this one, from those that an
// instance has folded. What was signed counts: a tree never shrinks, and where the
// instance began it at another offset than the signed one, although that covers
// its beginning, the signed head stays and the instance has to adopt the tree.
// Only a tree that begins behind all that was signed is begun anew.
func (c Checkpoint) Advance(folded []Head) (next, adopt []Head) {
	for _, own := range folded {
		signed, known := c.Head(own.Topic, own.Partition)
		switch {
		case !known || signed.Size < own.Begun:
			next = append(next, own)
		case signed.Begun != own.Begun:
			next = append(next, signed)
			adopt = append(adopt, signed)
		case signed.Size > own.Size: // the instance is behind
			next = append(next, signed)
		default:
			next = append(next, own)
		}
	}
	for _, signed := range c.Heads {
		if !slices.ContainsFunc(next, func(h Head) bool { return h.sameTree(signed) }) {
			next = append(next, signed)
		}
	}
	slices.SortFunc(next, func(a, b Head) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return next, adopt
}

// Grown reports whether the heads are of more than the checkpoint has.
func (c Checkpoint) Grown(heads []Head) bool {
	return slices.ContainsFunc(heads, func(h Head) bool {
		before, known := c.Head(h.Topic, h.Partition)
		return !known || before.Size != h.Size
	})
}

func (h Head) sameTree(other Head) bool {
	return h.Topic == other.Topic && h.Partition == other.Partition
}
