package fold

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"hooklog/domain/record"
	"hooklog/projections/store"
)

// checkpoint says how far one partition was folded, of which log, and into
// which form of rows. It is written in the batch of the rows themselves.
type checkpoint struct {
	ClusterID   string `json:"clusterId"`
	TopicID     string `json:"topicId"`
	Next        int64  `json:"next"`
	LeaderEpoch int32  `json:"leaderEpoch"`
	// Last is the digest of the last folded record, by which a log that was cut
	// and grew again is told from the one that was folded.
	Last   string `json:"last"`
	Schema int    `json:"schema"`
}

func checkpointKey(projection, topic string, partition int32) []byte {
	return store.Key("checkpoint", projection, topic, store.Ordered(uint64(partition)))
}

func loadCheckpoint(s *store.Store, key []byte) (checkpoint, bool, error) {
	var c checkpoint
	value, ok, err := s.Get(key)
	if err != nil || !ok {
		return c, false, err
	}
	if err := json.Unmarshal(value, &c); err != nil {
		return c, false, fmt.Errorf("read checkpoint: %w", err)
	}
	return c, true, nil
}

func (c checkpoint) save(b *store.Batch, key []byte) error {
	value, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return b.Set(key, value)
}

// after is the checkpoint behind the record.
func (c checkpoint) after(r *record.Record) checkpoint {
	digest := record.LeafDigest(r)
	c.Next = r.Offset + 1
	c.LeaderEpoch = r.LeaderEpoch
	c.Last = hex.EncodeToString(digest[:])
	return c
}
