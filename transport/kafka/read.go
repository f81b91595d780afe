package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/record"
)

const (
	readTries = 4
	// leaderMaxAge is how long a known leader is asked without looking again;
	// one that has moved says so.
	leaderMaxAge = time.Minute
)

var decompressor = kgo.DefaultDecompressor()

// Bounds gives what every partition holds, in their order; the end is the high
// watermark.
func (l *Log) Bounds(ctx context.Context, topic string) ([]record.Bounds, error) {
	bounds, err := l.BoundsOf(ctx, topic)
	return bounds[topic], err
}

// BoundsOf is Bounds for many topics, at about the same moment.
func (l *Log) BoundsOf(ctx context.Context, topics ...string) (map[string][]record.Bounds, error) {
	if len(topics) == 0 { // the client would list every topic
		return nil, nil
	}
	starts, err := l.admin.ListStartOffsets(ctx, topics...)
	if err != nil {
		return nil, unavailable(err)
	}
	// The end is asked for last, so that it is never below the start.
	ends, err := l.admin.ListEndOffsets(ctx, topics...)
	if err != nil {
		return nil, unavailable(err)
	}
	all := make(map[string][]record.Bounds, len(topics))
	for _, topic := range topics {
		if all[topic], err = boundsOf(topic, starts[topic], ends[topic]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func boundsOf(topic string, starts, ends map[int32]kadm.ListedOffset) ([]record.Bounds, error) {
	for _, listed := range []map[int32]kadm.ListedOffset{starts, ends} {
		for _, one := range listed {
			if MissesTopic(one.Err) {
				return nil, &MissingTopicError{Topic: topic}
			}
			if one.Err != nil {
				return nil, unavailable(one.Err)
			}
		}
	}
	bounds := make([]record.Bounds, len(ends))
	for i := range bounds {
		start, known := starts[int32(i)]
		end, alsoKnown := ends[int32(i)]
		if !known || !alsoKnown {
			return nil, unavailable(fmt.Errorf("partition %d of %s was not listed", i, topic))
		}
		bounds[i] = record.Bounds{Start: start.Offset, End: end.Offset}
	}
	return bounds, nil
}

// rangeError is a RangeError for the position, or why the bounds are not known.
func (l *Log) rangeError(ctx context.Context, at record.Position) error {
	bounds, err := l.Bounds(ctx, at.Topic)
	if err != nil {
		return err
	}
	if at.Partition < 0 || int(at.Partition) >= len(bounds) {
		return &MissingTopicError{Topic: at.Topic}
	}
	return &RangeError{At: at, Start: bounds[at.Partition].Start, End: bounds[at.Partition].End}
}

// ReadAt fetches the one record at a position. It is a RangeError that the log
// does not hold it. The record shares memory with its neighbours on the log.
func (l *Log) ReadAt(ctx context.Context, at record.Position) (record.Record, error) {
	batch, err := l.readBatch(ctx, at)
	if err != nil {
		return record.Record{}, err
	}
	return incoming(batch[0]), nil
}

// readBatch fetches the record at a position with those behind it that came in the
// same batch.
func (l *Log) readBatch(ctx context.Context, at record.Position) ([]*kgo.Record, error) {
	maxAge := leaderMaxAge
	var cause error
	for range readTries {
		found, err := l.fetchAt(ctx, at, maxAge)
		switch {
		case err == nil && found != nil:
			return found, nil
		case err == nil, errors.Is(err, kerr.OffsetOutOfRange):
			return nil, l.rangeError(ctx, at)
		}
		cause = err
		if !kerr.IsRetriable(err) && !kgo.IsRetryableBrokerErr(err) {
			break
		}
		maxAge = time.Nanosecond // look again who leads
		if err := pause(ctx, retryPause); err != nil {
			break
		}
	}
	if MissesTopic(cause) {
		return nil, &MissingTopicError{Topic: at.Topic}
	}
	return nil, unavailable(cause)
}

// fetchAt asks the partition's leader once. No error and no record: the log
// does not hold the offset yet, or no longer.
func (l *Log) fetchAt(ctx context.Context, at record.Position, leaderAge time.Duration) ([]*kgo.Record, error) {
	leader, id, err := l.leader(ctx, at, leaderAge)
	if err != nil {
		return nil, err
	}
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.Partition = at.Partition
	partition.FetchOffset = at.Offset
	partition.PartitionMaxBytes = 1 // one batch comes in any case
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = at.Topic, id
	topic.Partitions = append(topic.Partitions, partition)
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis = 0
	req.MaxBytes = maxMessageBytes
	req.Topics = append(req.Topics, topic)

	answer, err := l.client.Broker(int(leader)).Request(ctx, req)
	if err != nil {
		return nil, err
	}
	resp := answer.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, errors.New("the broker answered for other partitions than asked")
	}
	fetched, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: at.Offset, Topic: at.Topic, Partition: at.Partition,
	}, &resp.Topics[0].Partitions[0], decompressor, nil)
	if len(fetched.Records) == 0 || fetched.Records[0].Offset != at.Offset {
		return nil, fetched.Err
	}
	return fetched.Records, nil
}

// leader gives the node that leads a partition, and the topic's id.
func (l *Log) leader(ctx context.Context, at record.Position, maxAge time.Duration) (int32, TopicID, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = append(req.Topics, metadataTopic(at.Topic))
	resp, err := l.client.RequestCachedMetadata(ctx, req, maxAge)
	if err != nil {
		return 0, TopicID{}, err
	}
	for i := range resp.Topics {
		if err := kerr.ErrorForCode(resp.Topics[i].ErrorCode); err != nil {
			return 0, TopicID{}, err
		}
		for _, partition := range resp.Topics[i].Partitions {
			if partition.Partition != at.Partition {
				continue
			}
			if partition.Leader < 0 {
				return 0, TopicID{}, kerr.LeaderNotAvailable
			}
			return partition.Leader, resp.Topics[i].TopicID, nil
		}
	}
	return 0, TopicID{}, kerr.UnknownTopicOrPartition
}
