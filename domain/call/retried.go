package call

import (
	"fmt"
	"time"

	"hooklog/domain/record"
)

// Retried opens the next attempt of a listener whose last one failed. Whether it
// does so is decided by folding it.
type Retried struct {
	CorrelationID string `json:"correlationId"`
	Listener      string `json:"listener"`
	// Attempt is the one to open.
	Attempt int `json:"attempt"`
	// By is who asked for it, with the command of that id.
	By        string    `json:"by"`
	CommandID string    `json:"commandId"`
	Time      time.Time `json:"time"`
}

// Encode gives the retried record for the partition of the accepted one.
func (r Retried) Encode(partition int32) (record.Record, error) {
	return encode(RetriedType, r.CorrelationID, partition, r.Time, r)
}

func (r Retried) check(key string) error {
	if r.Attempt < 2 {
		return fmt.Errorf("attempt %d repeats none", r.Attempt)
	}
	return checkKey(r.CorrelationID, key)
}
