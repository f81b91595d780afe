package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/proof"
	"hooklog/domain/record"
)

// tree is the check of one partition with a tree.
type tree struct {
	*run
	partition
	bounds   record.Bounds
	branches []*branch
	flawed   bool // not all of it could be read
}

// branch computes the tree of the heads that were begun at the same offset; but
// after retention outran the checkpoints there is one only. It takes the records
// from `from` on.
type branch struct {
	from   int64
	ahead  []head // to be compared, by size
	tree   proof.Tree
	proved proof.Head // how far it was as signed
	failed bool
}

func (r *run) newTree(ctx context.Context, p partition) (*tree, error) {
	t := &tree{run: r, partition: p, bounds: r.bounds[p]}
	heads := r.heads[p]
	delete(r.heads, p)
	t.checkRemoved(heads)
	slices.SortStableFunc(heads, func(a, b head) int {
		return cmp.Or(cmp.Compare(a.begun, b.begun), cmp.Compare(a.size, b.size))
	})
	for len(heads) > 0 {
		n := 0
		for n < len(heads) && heads[n].begun == heads[0].begun {
			n++
		}
		b, err := t.newBranch(ctx, heads[:n])
		if err != nil {
			return nil, err
		}
		if b != nil {
			t.branches = append(t.branches, b)
		}
		heads = heads[n:]
	}
	return t, nil
}

// newBranch begins where the heads were begun. Where that is gone, it goes on from
// the first head behind the log's start; the records before that head cannot be
// proved any more.
func (t *tree) newBranch(ctx context.Context, heads []head) (*branch, error) {
	b := &branch{from: heads[0].begun, ahead: heads}
	if b.from >= t.bounds.Start {
		b.tree = proof.Begin(b.from)
	} else {
		i := slices.IndexFunc(heads, func(h head) bool { return h.size >= t.bounds.Start })
		if i < 0 { // all of it is gone
			return nil, nil
		}
		if size := heads[i].size; size > t.bounds.End {
			t.differs(t.missing(t.bounds.End, size))
			return nil, nil
		}
		whole, err := t.edge(ctx, t.partition, heads[i])
		if err != nil {
			return nil, err
		}
		if b.tree, err = proof.Resume(whole); err != nil {
			return nil, err
		}
		b.from, b.ahead = heads[i].size, heads[i:]
	}
	b.proved = proof.HeadOf(t.topic, t.index, &b.tree)
	return b, nil
}

// checkRemoved judges what is gone from the beginning: now, and when a tree had to
// be begun anew.
func (t *tree) checkRemoved(heads []head) {
	last := int64(0)
	for i, h := range heads {
		if h.begun > last {
			last = h.begun
			t.removed(heads[:i], h.begun, h.time)
		}
	}
	t.removed(heads, t.bounds.Start, t.opts.Now)
}

// removed judges that the records before an offset were gone at a moment. All
// behind a checkpoint are younger than it is; so one that is younger than the
// retention and does not cover them shows that they went too early.
func (t *tree) removed(heads []head, before int64, when time.Time) {
	retention := t.opts.Retention(t.topic)
	if before == 0 {
		return
	}
	if retention <= 0 {
		t.differs(differenceAt(t.at(0), "the records before %d are gone, and are to be kept for ever", before))
		return
	}
	for _, h := range heads {
		if h.size < before && early(when.Sub(h.time), retention) {
			t.differs(differenceAt(t.at(h.size), "the records before %d are gone, and are younger than %s", before, retention))
		}
	}
}

// early reports that an age is below the retention, whatever the clocks say.
func early(age, retention time.Duration) bool {
	return age < retention-min(clockSlack, retention/10)
}

// check reads the partition.
func (t *tree) check(ctx context.Context) error {
	for _, b := range t.branches {
		if err := t.compare(ctx, b); err != nil {
			return err
		}
	}
	var err error
	t.flawed, err = t.read(ctx, []partition{t.partition}, func(records []record.Record) error {
		for i := range records {
			if err := t.take(ctx, &records[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, b := range t.branches {
		if b.waits() {
			if err := t.locate(ctx, b, b.ahead[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// waits reports that records are still to be compared with a head.
func (b *branch) waits() bool { return !b.failed && len(b.ahead) > 0 }

func (t *tree) take(ctx context.Context, r *record.Record) error {
	for _, b := range t.branches {
		if b.waits() && r.Offset >= b.from {
			b.tree.Append(proof.LeafHash(r))
			if err := t.compare(ctx, b); err != nil {
				return err
			}
		}
	}
	if t.topic == record.TopicCall && r.Header(record.HeaderType) == call.AcceptedType {
		t.accepted(r)
	}
	return nil
}

// compare holds the tree against what was signed at its size.
func (t *tree) compare(ctx context.Context, b *branch) error {
	for b.waits() && b.ahead[0].size == b.tree.Size() {
		if b.tree.Root() != b.ahead[0].root {
			return t.locate(ctx, b, b.ahead[0])
		}
		b.proved = proof.HeadOf(t.topic, t.index, &b.tree)
		b.ahead = b.ahead[1:]
	}
	return nil
}

// locate finds the first record that is not the one that was signed. It lies
// behind what is proved and before the size of the head that does not fit; which
// one it is can be told where stored leaves lead to the signed root.
func (t *tree) locate(ctx context.Context, b *branch, signed head) error {
	b.failed = true
	from := b.proved.Size
	stored, err := t.storedLeaves(b, signed)
	if err != nil {
		return err
	}
	switch {
	case stored != nil:
		first, err := t.firstOther(ctx, from, stored)
		if err != nil {
			return err
		}
		if first < t.bounds.End {
			t.differs(differenceAt(t.at(first), "it is not the record that was signed"))
		} else {
			t.differs(t.missing(first, signed.size))
		}
	case t.flawed: // and that place is known
	case t.bounds.End <= from:
		t.differs(t.missing(from, signed.size))
	default:
		d := differenceAt(t.at(from), "one of these records is not the one that was signed")
		if t.bounds.End < signed.size {
			d.Reason = fmt.Sprintf("the log ends at %d, and %d records were signed", t.bounds.End, signed.size)
		}
		d.To = signed.size
		t.differs(d)
	}
	return nil
}

func (t *tree) missing(offset, signed int64) Difference {
	return differenceAt(t.at(offset), "it is missing: the log ends here, and %d records were signed", signed)
}

// storedLeaves gives what was stored of the records from what is proved up to the
// signed head, or nil where that does not lead to its root.
func (t *tree) storedLeaves(b *branch, signed head) ([]proof.Hash, error) {
	if t.opts.Leaves == nil {
		return nil, nil
	}
	stored, err := t.opts.Leaves.Leaves(t.topic, t.index, b.proved.Size, signed.size)
	if err != nil || int64(len(stored)) != signed.size-b.proved.Size {
		return nil, nil //nolint:nilerr // what cannot be read is of no help, and no difference
	}
	again, err := proof.Resume(b.proved)
	if err != nil {
		return nil, err
	}
	for _, leaf := range stored {
		again.Append(leaf)
	}
	if again.Root() != signed.root {
		return nil, nil
	}
	return stored, nil
}

// firstOther gives the offset of the first record that does not have its leaf, or
// the end of the log.
func (t *tree) firstOther(ctx context.Context, from int64, leaves []proof.Hash) (int64, error) {
	next := from
	span := make([]record.Bounds, t.index+1)
	span[t.index] = record.Bounds{Start: from, End: min(t.bounds.End, from+int64(len(leaves)))}
	_, err := t.log.Read(ctx, map[string][]record.Bounds{t.topic: span}, func(records []record.Record) error {
		for i := range records {
			if proof.LeafHash(&records[i]) != leaves[next-from] {
				return errFound
			}
			next++
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return next, err
}

var errFound = errors.New("found")

func (t *tree) report() Tree {
	out := Tree{Topic: t.topic, Partition: t.index, Start: t.bounds.Start, From: t.bounds.Start, End: t.bounds.End}
	for _, b := range t.branches {
		if b.proved.Size > out.Proved {
			out.From, out.Proved = b.from, b.proved.Size
		}
	}
	out.Unproven = out.End - max(out.Proved, out.Start)
	return out
}
