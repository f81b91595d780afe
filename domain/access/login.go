package access

import (
	"encoding/json"
	"fmt"
	"time"

	"hooklog/domain/record"
	"hooklog/domain/refused"
)

// The wire names and versions of what svc.access holds about log-ins.
const (
	LoginType    = "access.login/1"
	FailuresType = "access.failures/1"
)

// Login is the record of tokens that were given to a user. The tokens are not
// in it.
type Login struct {
	ID        string    `json:"id"`
	Principal string    `json:"principal"`
	Client    string    `json:"client"`
	Grant     string    `json:"grant"`
	Scope     string    `json:"scope,omitempty"`
	Address   string    `json:"address,omitempty"`
	Time      time.Time `json:"time"`
}

// Encode gives the record to append, for one of n partitions.
func (l Login) Encode(n int32) (record.Record, error) {
	return encodeAccess(LoginType, l.ID, n, l.Time, l)
}

// Failures counts the log-ins that one instance refused. It has no names: people
// type passwords where the name belongs.
type Failures refused.Counts

// Encode gives the record to append, for one of n partitions.
func (f Failures) Encode(n int32) (record.Record, error) {
	return encodeAccess(FailuresType, f.Instance, n, f.To, f)
}

func encodeAccess(kind, key string, n int32, at time.Time, v any) (record.Record, error) {
	value, err := json.Marshal(v)
	if err != nil {
		return record.Record{}, fmt.Errorf("encode %s: %w", kind, err)
	}
	return record.Record{
		Position: record.Position{Topic: record.TopicAccess, Partition: record.Spread(key, n)},
		Time:     at,
		Key:      []byte(key),
		Headers:  []record.Header{{Key: record.HeaderType, Value: []byte(kind)}},
		Value:    value,
	}, nil
}
