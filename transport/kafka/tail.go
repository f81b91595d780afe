package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/record"
)

const fetchMaxWait = 250 * time.Millisecond

// Tail reads one partition, record by record, from an offset on. It is for one
// goroutine. Its errors other than those of a context are final: the tail gives
// the same error again and never skips or rewinds.
type Tail struct {
	log    *Log
	client *kgo.Client
	id     TopicID
	next   record.Position
	err    error
}

// Tail opens a tail at a position, which may be the end of the log. A missing
// topic is an error at once; whether the offset is in range shows at Next. It
// has a connection of its own, since a fetch that waits holds up all behind it.
func (l *Log) Tail(ctx context.Context, at record.Position) (*Tail, error) {
	info, err := l.describe(ctx, at.Topic)
	if err != nil {
		return nil, err
	}
	if at.Partition < 0 || at.Partition >= info.Partitions {
		return nil, &MissingTopicError{Topic: at.Topic}
	}
	if at.Offset < 0 { // to the client, these mean start and end
		return nil, l.rangeError(ctx, at)
	}
	client, err := kgo.NewClient(append(
		l.cfg.options(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
			at.Topic: {at.Partition: kgo.NoResetOffset().At(at.Offset)},
		}),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxWait(fetchMaxWait),
		kgo.DisableFetchSessions(), // of no use for one partition
		// Without these, a topic that was recreated is waited for in silence.
		kgo.KeepRetryableFetchErrors(),
	)...)
	if err != nil {
		return nil, err
	}
	return &Tail{log: l, client: client, id: info.ID, next: at}, nil
}

// TopicID is that of the topic the tail was opened on.
func (t *Tail) TopicID() TopicID { return t.id }

// Close ends the tail; a Next that waits returns.
func (t *Tail) Close() { t.client.Close() }

// Next waits for at least one record and gives all that are there, in order and
// without gaps. While the brokers are away it waits; so it does while the topic
// is missing, until one of that name is there again. The records of one answer
// share memory: copy what is kept for long.
func (t *Tail) Next(ctx context.Context) ([]record.Record, error) {
	for t.err == nil {
		fetches := t.client.PollFetches(ctx)
		batch := t.take(fetches)
		if t.err == nil {
			if err := t.judge(ctx, fetches); err != nil && len(batch) == 0 {
				return nil, err
			}
		}
		if len(batch) > 0 {
			return batch, nil
		}
	}
	return nil, t.err
}

// take gives the fetched records up to the first that is not the next one.
func (t *Tail) take(fetches kgo.Fetches) []record.Record {
	n := fetches.NumRecords()
	if n == 0 {
		return nil
	}
	batch := make([]record.Record, 0, n)
	for _, fetch := range fetches {
		for i := range fetch.Topics {
			topic := &fetch.Topics[i]
			if topic.TopicID != t.id && topic.TopicID != (TopicID{}) {
				t.err = &RecreatedError{Topic: topic.Topic, Want: t.id, Have: topic.TopicID}
				return batch
			}
			for _, partition := range topic.Partitions {
				for _, r := range partition.Records {
					if r.Offset != t.next.Offset {
						t.err = &GapError{Want: t.next, Have: r.Offset}
						return batch
					}
					batch = append(batch, incoming(r))
					t.next.Offset++
				}
			}
		}
	}
	return batch
}

// judge looks at a fetch's errors. What is final goes to t.err; it returns only
// an error that ends this Next but not the tail.
func (t *Tail) judge(ctx context.Context, fetches kgo.Fetches) error {
	cause := fetches.Err()
	if cause == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var final error
	switch {
	case errors.Is(cause, kerr.OffsetOutOfRange):
		final = t.outOfRange(ctx)
	case MissesTopic(cause):
		final = t.recreated(ctx)
	case kerr.IsRetriable(cause) || kgo.IsRetryableBrokerErr(cause):
	default:
		final = fmt.Errorf("tail of %s: %w", t.next, cause)
	}
	if final != nil {
		t.err = final
		return nil
	}
	return pause(ctx, fetchMaxWait)
}

// outOfRange is nil while the bounds cannot be told; the next fetch fails again.
func (t *Tail) outOfRange(ctx context.Context) error {
	var out *RangeError
	if errors.As(t.log.rangeError(ctx, t.next), &out) {
		return out
	}
	return nil
}

// recreated is nil while the topic's id is the known one or cannot be told: a
// broker may not have heard of a new topic yet, or be away.
func (t *Tail) recreated(ctx context.Context) error {
	info, err := t.log.describe(ctx, t.next.Topic)
	if err != nil || info.ID == t.id {
		return nil
	}
	return &RecreatedError{Topic: t.next.Topic, Want: t.id, Have: info.ID}
}

func incoming(r *kgo.Record) record.Record {
	in := record.Record{
		Position:    record.Position{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset},
		LeaderEpoch: r.LeaderEpoch,
		Time:        r.Timestamp.UTC(),
		Key:         r.Key,
		Value:       r.Value,
	}
	if len(r.Headers) > 0 {
		in.Headers = make([]record.Header, len(r.Headers))
		for i := range r.Headers {
			in.Headers[i] = record.Header(r.Headers[i])
		}
	}
	return in
}
