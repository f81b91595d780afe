package fold

import (
	"context"
	"encoding/hex"
	"fmt"

	"hooklog/domain/record"
)

const (
	hintRebuild = "to fold the log again, run: hooklog rebuild"
	// Without their beginning, commands cannot be decided: no rebuild helps.
	hintBackup  = "commands are kept for ever and the first are gone; restore the log from a backup, then run: hooklog rebuild"
	hintRestore = "restore the log from a backup, or go on with what is left of it, on the record: hooklog rebuild --accept-truncation"
)

// recover finds where to go on, and refuses a log that is not the one that was
// folded: it never rebuilds silently.
func (r *Runner) recover(ctx context.Context, topic record.Topic, n int32) (*partition, error) {
	p := &partition{
		Runner: r,
		key:    checkpointKey(r.Name(), r.projection.Topic(), n),
		at:     record.Position{Topic: r.projection.Topic(), Partition: n},
	}
	saved, ok, err := loadCheckpoint(r.store, p.key)
	if err != nil {
		return nil, err
	}
	bounds := topic.Partitions[n]
	p.at.Offset = saved.Next
	if bounds.Start > 0 && p.at.Topic == record.TopicCommand {
		return nil, p.stop(p.at, fmt.Sprintf("the log starts at offset %d", bounds.Start), hintBackup)
	}
	p.last = checkpoint{ClusterID: topic.ClusterID, TopicID: topic.TopicID, Schema: r.projection.Schema()}
	if ok {
		if err := p.compare(ctx, saved, topic, bounds); err != nil {
			return nil, err
		}
		p.last = saved
	}
	// What lies between had expired by the topic's retention.
	p.at.Offset = max(p.at.Offset, bounds.Start)
	r.marks.set(n, p.at.Offset)
	return p, nil
}

// compare holds the checkpoint against the log, and against this release only
// when the log has lost nothing: a new fold would hide that.
func (p *partition) compare(ctx context.Context, saved checkpoint, topic record.Topic, bounds record.Bounds) error {
	switch {
	case saved.ClusterID != topic.ClusterID || saved.TopicID != topic.TopicID:
		return p.lost("the topic is another one than was folded")
	case saved.Next > bounds.End:
		return p.lost(fmt.Sprintf("the log ends at offset %d, before what was folded", bounds.End))
	case saved.Next > bounds.Start: // the last folded record has not expired
		if err := p.compareLast(ctx, saved); err != nil {
			return err
		}
	}
	if saved.Schema != p.projection.Schema() {
		return &Stopped{
			Projection: p.Name(), At: p.at, Hint: hintRebuild, Stale: true,
			Reason: fmt.Sprintf("the rows have form %d and this release writes %d", saved.Schema, p.projection.Schema()),
		}
	}
	return nil
}

// compareLast reads the last folded record again.
func (p *partition) compareLast(ctx context.Context, saved checkpoint) error {
	last, err := p.source.ReadAt(ctx, record.Position{Topic: p.at.Topic, Partition: p.at.Partition, Offset: saved.Next - 1})
	if err != nil {
		return fmt.Errorf("projection %s: read the last folded record: %w", p.Name(), err)
	}
	if digest := record.LeafDigest(&last); hex.EncodeToString(digest[:]) != saved.Last {
		return p.lost(fmt.Sprintf("the record at offset %d is not the one that was folded", saved.Next-1))
	}
	return nil
}

// lost is the refusal of a log that has not what was folded before.
func (p *partition) lost(reason string) error {
	return &Stopped{Projection: p.Name(), At: p.at, Reason: reason, Hint: hintRestore, Lost: true}
}

// Check compares what was folded with the log, and folds nothing.
func (r *Runner) Check(ctx context.Context) error {
	topic, err := r.source.Describe(ctx, r.projection.Topic())
	if err != nil {
		return err
	}
	for i := range topic.Partitions {
		if _, err := r.recover(ctx, topic, int32(i)); err != nil {
			return err
		}
	}
	return nil
}
