package call

import (
	"errors"

	"hooklog/domain/record"
	"hooklog/domain/refused"
)

// RejectedType is the wire name of the record that counts refused calls.
const RejectedType = "call.rejected/1"

// Rejected counts the calls that one instance refused: a refused call belongs to
// nobody and is no part of any call's life.
type Rejected refused.Counts

// Encode gives the rejected record for a partition.
func (r Rejected) Encode(partition int32) (record.Record, error) {
	return encode(RejectedType, r.Instance, partition, r.To, r)
}

func (r Rejected) check(key string) error {
	if r.Instance == "" || r.Instance != key {
		return errors.New("a record of refused calls must have its instance as key")
	}
	return nil
}
