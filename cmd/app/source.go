package app

import (
	"context"
	"encoding/hex"

	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/transport/kafka"
)

// source is the log as the projections need it.
type source struct {
	log       *kafka.Log
	clusterID string
	// topics are hooklog's own, as they were verified at the start.
	topics map[string]kafka.TopicInfo
}

func (s *source) Describe(ctx context.Context, topic string) (record.Topic, error) {
	bounds, err := s.Bounds(ctx, topic)
	if err != nil {
		return record.Topic{}, err
	}
	id := s.topics[topic].ID
	return record.Topic{ClusterID: s.clusterID, TopicID: hex.EncodeToString(id[:]), Partitions: bounds}, nil
}

func (s *source) Bounds(ctx context.Context, topic string) ([]record.Bounds, error) {
	return s.log.Bounds(ctx, topic)
}

func (s *source) ReadAt(ctx context.Context, at record.Position) (record.Record, error) {
	return s.log.ReadAt(ctx, at)
}

func (s *source) Tail(ctx context.Context, from record.Position) (fold.Tail, error) {
	return s.log.Tail(ctx, from)
}
