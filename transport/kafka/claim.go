package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/record"
)

// ErrLost is returned by Commit when the partition is another member's already.
var ErrLost = errors.New("the partition was lost")

// Claim is a partition that a member of a group was given, until the context of
// whoever serves it ends.
type Claim struct {
	member    *member
	partition int32
	end       int64
	tail      *Tail
}

// Partition is the number of the partition.
func (c *Claim) Partition() int32 { return c.partition }

// End is the end of the log when the partition was given: what lies before it may
// have been served by others.
func (c *Claim) End() int64 { return c.end }

// Next gives the next records, as a tail does, beginning with the committed
// offset. What expired before it was read is left out.
func (c *Claim) Next(ctx context.Context) ([]record.Record, error) {
	for {
		records, err := c.tail.Next(ctx)
		var out *RangeError
		if !errors.As(err, &out) || !out.Below() {
			return records, err
		}
		c.member.log.cfg.Log.Warn("Records expired before they were read", "from", out.At.String(), "to_offset", out.Start)
		c.tail.Close()
		at := out.At
		at.Offset = out.Start
		if c.tail, err = c.member.log.Tail(ctx, at); err != nil {
			return nil, err
		}
	}
}

// Commit lets whoever is given the partition next begin at the offset. It may be
// called by another goroutine than Next.
func (c *Claim) Commit(ctx context.Context, offset int64) error {
	return c.member.commit(ctx, c.partition, offset)
}

func (m *member) commit(ctx context.Context, partition int32, offset int64) (err error) {
	m.mu.Lock()
	s := m.serving[partition]
	lost := s == nil || s.lost
	m.mu.Unlock()
	if lost {
		return ErrLost
	}
	offsets := map[string]map[int32]kgo.EpochOffset{m.topic: {partition: {Epoch: -1, Offset: offset}}}
	m.client.CommitOffsetsSync(ctx, offsets, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, failed error) {
		if failed != nil {
			err = failed
			return
		}
		for i := range resp.Topics {
			for j := range resp.Topics[i].Partitions {
				err = errors.Join(err, kerr.ErrorForCode(resp.Topics[i].Partitions[j].ErrorCode))
			}
		}
	})
	if err != nil {
		return fmt.Errorf("commit %s/%d@%d: %w", m.topic, partition, offset, err)
	}
	return nil
}
