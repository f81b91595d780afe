package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

// Brokers is the log at Kafka brokers, which may be in use.
type Brokers struct{ Log *kafka.Log }

// Topics is for Log.
func (b Brokers) Topics(ctx context.Context) ([]string, error) { return b.Log.Topics(ctx, "svc.") }

// Bounds is for Log.
func (b Brokers) Bounds(ctx context.Context, topics ...string) (map[string][]record.Bounds, error) {
	return b.Log.BoundsOf(ctx, topics...)
}

// Read is for Log.
func (b Brokers) Read(ctx context.Context, topics map[string][]record.Bounds, visit func([]record.Record) error) (flaws []Flaw, err error) {
	left := make(map[string][]record.Bounds, len(topics))
	for topic, bounds := range topics {
		left[topic] = slices.Clone(bounds)
	}
	for {
		err := b.Log.Scan(ctx, left, func(records []record.Record) error {
			last := records[len(records)-1].Position
			left[last.Topic][last.Partition].Start = last.Offset + 1
			return visit(records)
		})
		var gap *kafka.GapError
		var out *kafka.RangeError
		switch {
		case errors.As(err, &gap):
			flaws = append(flaws, Flaw{At: gap.Want, Reason: fmt.Sprintf("the log goes on at %d", gap.Have)})
			left[gap.Want.Topic][gap.Want.Partition].Start = left[gap.Want.Topic][gap.Want.Partition].End
			continue
		case errors.As(err, &out) && out.Below():
			return nil, fmt.Errorf("%w; records were removed meanwhile, so run it again", err)
		}
		return flaws, err
	}
}
