package kafka

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/record"
)

// spreadBytes is how much goes to one partition before the next is taken.
const spreadBytes = 64 << 10

// ownTopics begin the names of the service's topics.
const ownTopics = "svc."

// partitioner spreads events evenly, and what goes to topics of others; the
// partition of the service's own records is left to whoever appends them: a call's
// records must stay together.
type partitioner struct {
	spread, own kgo.Partitioner
}

func newPartitioner() kgo.Partitioner {
	return partitioner{
		spread: kgo.UniformBytesPartitioner(spreadBytes, true, false, nil),
		own:    kgo.ManualPartitioner(),
	}
}

func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	if strings.HasPrefix(topic, ownTopics) && !strings.HasPrefix(topic, record.EventTopicPrefix) {
		return p.own.ForTopic(topic)
	}
	return p.spread.ForTopic(topic)
}
