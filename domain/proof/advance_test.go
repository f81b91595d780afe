package proof_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/proof"
)

func at(partition int32, begun, size int64) proof.Head {
	h := grown(begun, size)
	h.Partition = partition
	return h
}

func TestAdvance(t *testing.T) {
	heads := func(h ...proof.Head) []proof.Head { return h }
	for name, tt := range map[string]struct {
		signed, folded, next, adopt []proof.Head
		grown                       bool
	}{
		"the first checkpoint is of what is folded":             {nil, heads(at(1, 5, 9), at(0, 0, 3)), heads(at(0, 0, 3), at(1, 5, 9)), nil, true},
		"a tree that has grown is put":                          {heads(at(0, 0, 3)), heads(at(0, 0, 4)), heads(at(0, 0, 4)), nil, true},
		"a tree that has not grown stays":                       {heads(at(0, 0, 3)), heads(at(0, 0, 3)), heads(at(0, 0, 3)), nil, false},
		"an instance that is behind takes nothing back":         {heads(at(0, 0, 3)), heads(at(0, 0, 2)), heads(at(0, 0, 3)), nil, false},
		"nor one that has folded nothing of a partition":        {heads(at(0, 0, 3), at(1, 0, 2)), heads(at(0, 0, 4)), heads(at(0, 0, 4), at(1, 0, 2)), nil, true},
		"a tree begun within what was signed is adopted":        {heads(at(0, 0, 7)), heads(at(0, 5, 9)), heads(at(0, 0, 7)), heads(at(0, 0, 7)), false},
		"also where what was signed ends at its beginning":      {heads(at(0, 0, 5)), heads(at(0, 5, 9)), heads(at(0, 0, 5)), heads(at(0, 0, 5)), false},
		"a tree begun behind what was signed is begun anew":     {heads(at(0, 0, 4)), heads(at(0, 5, 9)), heads(at(0, 5, 9)), nil, true},
		"what was begun anew is adopted by who goes further on": {heads(at(0, 5, 8)), heads(at(0, 0, 9)), heads(at(0, 5, 8)), heads(at(0, 5, 8)), false},
	} {
		t.Run(name, func(t *testing.T) {
			c := proof.Checkpoint{Heads: tt.signed}
			next, adopt := c.Advance(tt.folded)
			if diff := cmp.Diff([][]proof.Head{tt.next, tt.adopt}, [][]proof.Head{next, adopt}); diff != "" {
				t.Errorf("next and adopt (-want +got):\n%s", diff)
			}
			if c.Grown(next) != tt.grown {
				t.Errorf("grown: %v, want %v", !tt.grown, tt.grown)
			}
		})
	}
}
