// Package call is the life of a webhook call after it was validated: accepted,
// completed by each pipeline that listens, retried where one failed, and polled
// for its result. Calls that were refused are only counted. It holds the records
// of svc.call, their fold, the result JSON, trace ids and the pace of polling. It
// never sees a payload.
package call

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/record"
)

// The wire names of the records of a call's life; see also RejectedType.
const (
	AcceptedType  = "call.accepted/1"
	CompletedType = "call.completed/1"
	RetriedType   = "call.retried/1"
)

// Accepted is the commit point of a call: it names the event record, which is on
// the log already, and the pipelines that listen. None means complete.
type Accepted struct {
	CorrelationID string    `json:"correlationId"`
	TraceID       string    `json:"traceId"`
	EventKey      string    `json:"eventKey"`
	Last6         string    `json:"last6"`
	Received      time.Time `json:"received"`
	Method        string    `json:"method"`
	// Size is the number of body bytes as received.
	Size    int    `json:"size"`
	Address string `json:"address,omitempty"`
	Event   Event  `json:"event"`
	// Listeners are the pipelines to run, as name@version.
	Listeners []string `json:"listeners,omitempty"`
}

// Event says where the event record of a call lies and what it contains.
type Event struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	// SHA256 is the digest of the event record's headers and value, in hex.
	SHA256 string `json:"sha256"`
}

// EventAt makes the reference to an appended event.
func EventAt(p record.Position, d record.Digest) Event {
	return Event{Topic: p.Topic, Partition: p.Partition, Offset: p.Offset, SHA256: hex.EncodeToString(d[:])}
}

// Status is the state of a result.
type Status string

// The states of a result.
const (
	Processing Status = "processing"
	OK         Status = "ok"
	Failed     Status = "error"
)

// Partition chooses the partition of svc.call for a new call; every later record
// of the call is written to the partition of its accepted record.
func Partition(correlationID string, partitions int32) int32 {
	return record.Spread(correlationID, partitions)
}

// Encode gives the accepted record for a partition.
func (a Accepted) Encode(partition int32) (record.Record, error) {
	if value, ok := a.appendJSON(make([]byte, 0, 512)); ok {
		return newRecord(AcceptedType, a.CorrelationID, partition, a.Received, value), nil
	}
	return encode(AcceptedType, a.CorrelationID, partition, a.Received, a)
}

func encode(typ, id string, partition int32, at time.Time, v any) (record.Record, error) {
	value, err := json.Marshal(v)
	if err != nil {
		return record.Record{}, fmt.Errorf("encode %s: %w", typ, err)
	}
	return newRecord(typ, id, partition, at, value), nil
}

func newRecord(typ, id string, partition int32, at time.Time, value []byte) record.Record {
	return record.Record{
		Position: record.Position{Topic: record.TopicCall, Partition: partition},
		Time:     at,
		Key:      []byte(id),
		Headers:  append(make([]record.Header, 0, headers), record.Header{Key: record.HeaderType, Value: []byte(typ)}),
		Value:    value,
	}
}

// headers is how many a record gets in the end: the type, and what whoever sends
// it says of its trace.
const headers = 4

// Decode reads a record of svc.call: an Accepted, a Completed, a Retried or a
// Rejected. An error means that the record is none, for ever.
func Decode(r *record.Record) (any, error) {
	switch t := r.Header(record.HeaderType); t {
	case AcceptedType:
		if a, ok := parseAccepted(r.Value); ok {
			return a, a.check(string(r.Key))
		}
		return decode[Accepted](r)
	case CompletedType:
		return decode[Completed](r)
	case RetriedType:
		return decode[Retried](r)
	case RejectedType:
		return decode[Rejected](r)
	default:
		return nil, fmt.Errorf("record type %q is unknown on %s", t, record.TopicCall)
	}
}

// DecodeAccepted reads the value of an accepted record that was decoded before.
func DecodeAccepted(value []byte) (Accepted, error) {
	if a, ok := parseAccepted(value); ok {
		return a, nil
	}
	var a Accepted
	err := json.Unmarshal(value, &a)
	return a, err
}

func decode[T interface{ check(key string) error }](r *record.Record) (any, error) {
	var v T
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, fmt.Errorf("decode record of %s: %w", record.TopicCall, err)
	}
	if err := v.check(string(r.Key)); err != nil {
		return nil, err
	}
	return v, nil
}

// idLength is the number of characters of a UUID; some forms of it have more.
const idLength = 36

func (a Accepted) check(key string) error { return checkKey(a.CorrelationID, key) }

// checkKey also holds the id to the one form in which it is asked for.
func checkKey(correlationID, key string) error {
	if correlationID == "" || correlationID != key {
		return fmt.Errorf("a record of %s must have its correlation id as key", record.TopicCall)
	}
	if uuid.Validate(key) != nil || len(key) != idLength || strings.ToLower(key) != key {
		return fmt.Errorf("correlation id %q is no lower-case UUID", key)
	}
	return nil
}
