package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/record"
)

// Topics gives the names of all topics that begin with the prefix.
func (l *Log) Topics(ctx context.Context, prefix string) ([]string, error) {
	topics, err := l.admin.ListTopics(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	var names []string
	for _, name := range topics.Names() {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Scan reads what partitions hold, from start to end and once; who reads
// everything needs no tail for each. Bounds are given by topic and partition. The
// records of one partition come in order and without gaps, in runs of at least one
// that hold during the call only. An end that is not reached is a *RangeError or a
// *GapError, or another error when nothing more came for stallTime.
func (l *Log) Scan(ctx context.Context, topics map[string][]record.Bounds, visit func([]record.Record) error) error {
	s := scan{next: make(map[record.Position]int64), ends: make(map[record.Position]int64), visit: visit}
	from := make(map[string]map[int32]kgo.Offset)
	for topic, bounds := range topics {
		for i, b := range bounds {
			if b.Start >= b.End {
				continue
			}
			if from[topic] == nil {
				from[topic] = make(map[int32]kgo.Offset)
			}
			at := record.Position{Topic: topic, Partition: int32(i)}
			from[topic][at.Partition] = kgo.NoResetOffset().At(b.Start)
			s.next[at], s.ends[at] = b.Start, b.End
		}
	}
	if len(s.next) == 0 {
		return nil
	}
	client, err := kgo.NewClient(append(
		l.cfg.options(),
		kgo.ConsumePartitions(from),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxWait(fetchMaxWait),
		// The mark of a foreign transaction is no record. It is asked for all the same:
		// where it is the last, one would wait for ever for what is behind it.
		kgo.KeepControlRecords(),
	)...)
	if err != nil {
		return err
	}
	defer client.Close()
	moved := time.Now()
	for len(s.next) > 0 {
		fetches := poll(ctx, client, moved.Add(stallTime))
		if err := s.judge(ctx, l, fetches); err != nil {
			return err
		}
		if fetches.NumRecords() > 0 {
			moved = time.Now()
		} else if time.Since(moved) >= stallTime {
			return s.stalled()
		}
		if err := s.take(client, fetches); err != nil {
			return err
		}
	}
	return nil
}

// stallTime is longer than brokers are away that come back.
const stallTime = time.Minute

func poll(ctx context.Context, client *kgo.Client, until time.Time) kgo.Fetches {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return client.PollFetches(ctx)
}

// scan is one Scan; its partitions are positions at offset 0.
type scan struct {
	next, ends map[record.Position]int64
	visit      func([]record.Record) error
	run        []record.Record
}

// stalled names a partition of which nothing comes, though its end is not reached.
func (s *scan) stalled() error {
	for at, next := range s.next {
		at.Offset = next
		return fmt.Errorf("scan of %s: no record came for %s", at, stallTime)
	}
	return nil
}

func (s *scan) judge(ctx context.Context, l *Log, fetches kgo.Fetches) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, failed := range fetches.Errors() {
		at := record.Position{Topic: failed.Topic, Partition: failed.Partition}
		at.Offset = s.next[at]
		switch {
		case errors.Is(failed.Err, kerr.OffsetOutOfRange):
			return l.rangeError(ctx, at)
		case errors.Is(failed.Err, context.DeadlineExceeded): // of this poll
		case kerr.IsRetriable(failed.Err) || kgo.IsRetryableBrokerErr(failed.Err):
		default:
			return fmt.Errorf("scan of %s: %w", at, failed.Err)
		}
	}
	return nil
}

// take hands on what was fetched, and lets go of partitions that were read to
// their end.
func (s *scan) take(client *kgo.Client, fetches kgo.Fetches) (err error) {
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		at := record.Position{Topic: p.Topic, Partition: p.Partition}
		next, reading := s.next[at]
		if err != nil || !reading || len(p.Records) == 0 {
			return
		}
		s.run = s.run[:0]
		for _, r := range p.Records {
			if next == s.ends[at] {
				break
			}
			if r.Offset != next || r.Attrs.IsControl() {
				have := r.Offset
				if have == next {
					have++
				}
				err = &GapError{Want: record.Position{Topic: at.Topic, Partition: at.Partition, Offset: next}, Have: have}
				break
			}
			s.run = append(s.run, incoming(r))
			next++
		}
		if s.next[at] = next; next == s.ends[at] {
			delete(s.next, at)
			client.PauseFetchPartitions(map[string][]int32{at.Topic: {at.Partition}})
		}
		if len(s.run) == 0 {
			return
		}
		if failed := s.visit(s.run); failed != nil {
			err = failed
		}
	})
	return err
}
