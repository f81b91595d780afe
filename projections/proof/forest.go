package proof

import (
	"fmt"

	"hooklog/domain/proof"
	"hooklog/domain/record"
)

// Forest is the trees of several topics.
type Forest []*Trees

// Heads are the heads of all trees that have been begun.
func (f Forest) Heads() []proof.Head {
	var heads []proof.Head
	for _, t := range f {
		heads = append(heads, t.Heads()...)
	}
	return heads
}

// Adopt is Trees.Adopt for the head's topic.
func (f Forest) Adopt(h proof.Head) error {
	t, err := f.find(h.Topic)
	if err != nil {
		return err
	}
	return t.Adopt(h)
}

// Prove is Trees.Prove for the record at the position.
func (f Forest) Prove(at record.Position, size int64) ([]proof.Hash, error) {
	t, err := f.find(at.Topic)
	if err != nil {
		return nil, err
	}
	return t.Prove(at.Partition, at.Offset, size)
}

// Root is Trees.Root for a partition of the topic.
func (f Forest) Root(topic string, n int32, size int64) (proof.Hash, error) {
	t, err := f.find(topic)
	if err != nil {
		return proof.Hash{}, err
	}
	return t.Root(n, size)
}

// Of is the trees of the topic, which must be one of the forest's.
func (f Forest) Of(topic string) *Trees {
	t, err := f.find(topic)
	if err != nil {
		panic(err)
	}
	return t
}

func (f Forest) find(topic string) (*Trees, error) {
	for _, t := range f {
		if t.topic == topic {
			return t, nil
		}
	}
	return nil, fmt.Errorf("there is no tree of %s", topic)
}
