package kafka

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/record"
)

// spreadBytes is how much goes to one partition before the next is taken.
const spreadBytes = 64 << 10

// partitioner spreads events evenly, and leaves the partition of every other
// record to whoever appends it: a call's records must stay together.
type partitioner struct {
	events, others kgo.Partitioner
}

func newPartitioner() kgo.Partitioner {
	return partitioner{
		events: kgo.UniformBytesPartitioner(spreadBytes, true, false, nil),
		others: kgo.ManualPartitioner(),
	}
}

func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	if strings.HasPrefix(topic, record.EventTopicPrefix) {
		return p.events.ForTopic(topic)
	}
	return p.others.ForTopic(topic)
}
