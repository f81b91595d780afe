package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"hooklog/domain/proof"
	"hooklog/domain/record"
)

// head is what a checkpoint says of one tree. Its edge, of which there are many,
// is read again where it is needed.
type head struct {
	begun, size int64
	root        proof.Hash
	// time is the latest at which the tree had this size: all records behind it are
	// younger.
	time time.Time
	// checkpoint is the offset on svc.checkpoint, or outside.
	checkpoint int64
}

const outside = -1

var checkpointLog = partition{topic: record.TopicCheckpoint}

// readCheckpoints reads every signed checkpoint. One that the pinned key has not
// signed is a difference: nobody else writes there.
func (r *run) readCheckpoints(ctx context.Context) error {
	r.heads, r.largest = make(map[partition][]head), make(map[partition]head)
	topics, err := r.log.Topics(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(topics, record.TopicCheckpoint) {
		if err := r.readSigned(ctx); err != nil {
			return err
		}
	}
	if r.opts.Outside != nil {
		c, err := Open(r.opts.Outside, r.opts.Key)
		if err != nil {
			return fmt.Errorf("the outside checkpoint: %w", err)
		}
		r.report.Outside = c.Time
		r.addHeads(c, outside)
	}
	return nil
}

func (r *run) readSigned(ctx context.Context) error {
	bounds, err := r.log.Bounds(ctx, record.TopicCheckpoint)
	if err != nil {
		return err
	}
	if start := bounds[record.TopicCheckpoint][0].Start; start > 0 {
		r.differs(differenceAt(checkpointLog.at(0), "the checkpoints before %d are gone, and are kept for ever", start))
	}
	r.bounds = map[partition]record.Bounds{checkpointLog: bounds[record.TopicCheckpoint][0]}
	_, err = r.read(ctx, []partition{checkpointLog}, func(records []record.Record) error {
		for i := range records {
			c, err := Open(records[i].Value, r.opts.Key)
			if err != nil {
				r.differs(differenceAt(records[i].Position, "%v", err))
				continue
			}
			r.report.Checkpoints++
			if c.Time.After(r.report.Newest) {
				r.report.Newest = c.Time
			}
			r.addHeads(c, records[i].Offset)
		}
		return nil
	})
	r.bounds = nil
	return err
}

// addHeads notes what a checkpoint says, unless it says again what is known.
func (r *run) addHeads(c proof.Checkpoint, checkpoint int64) {
	for _, h := range c.Heads {
		p := partition{h.Topic, h.Partition}
		fresh := head{begun: h.Begun, size: h.Size, root: h.Root, time: c.Time, checkpoint: checkpoint}
		if checkpoint != outside {
			r.holdGrowth(p, fresh)
		}
		known := r.heads[p]
		if n := len(known); n > 0 && known[n-1].same(fresh) {
			known[n-1].time = later(known[n-1].time, fresh.time)
			continue
		}
		r.heads[p] = append(known, fresh)
	}
}

func (h head) same(other head) bool {
	return h.size == other.size && h.root == other.root && h.begun == other.begun
}

// holdGrowth notes a tree that is smaller than it was: it was signed so, or the
// checkpoint does not stand in its place. Only instances that sign at the same time
// may overtake each other.
func (r *run) holdGrowth(p partition, h head) {
	largest, known := r.largest[p]
	switch {
	case !known || h.size > largest.size:
		r.largest[p] = h
	case h.size < largest.size && h.time.Sub(largest.time).Abs() > clockSlack:
		r.differs(differenceAt(checkpointLog.at(h.checkpoint), "%s/%d was larger in an earlier checkpoint", p.topic, p.index))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// edge gives a head with the edge that goes with it.
func (r *run) edge(ctx context.Context, p partition, h head) (proof.Head, error) {
	text := r.opts.Outside
	if h.checkpoint != outside {
		one := map[string][]record.Bounds{record.TopicCheckpoint: {{Start: h.checkpoint, End: h.checkpoint + 1}}}
		_, err := r.log.Read(ctx, one, func(records []record.Record) error {
			text = slices.Clone(records[0].Value)
			return nil
		})
		if err != nil {
			return proof.Head{}, err
		}
	}
	c, err := Open(text, r.opts.Key)
	if err != nil {
		return proof.Head{}, err
	}
	whole, there := c.Head(p.topic, p.index)
	if !there || whole.Root != h.root {
		return proof.Head{}, errors.New("the checkpoints changed while they were read; run it again")
	}
	return whole, nil
}

// Open gives the checkpoint of a signed note, which the key must have signed.
func Open(signed []byte, key note.Verifier) (proof.Checkpoint, error) {
	opened, err := note.Open(signed, note.VerifierList(key))
	if err != nil {
		return proof.Checkpoint{}, fmt.Errorf("it is no checkpoint that %s has signed: %w", key.Name(), err)
	}
	c, err := proof.ParseCheckpoint(opened.Text)
	if err != nil {
		return proof.Checkpoint{}, err
	}
	if c.Origin != key.Name() {
		return proof.Checkpoint{}, fmt.Errorf("it is a checkpoint of %s, not of %s", c.Origin, key.Name())
	}
	return c, nil
}
