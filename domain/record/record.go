// Package record is what both sides of the log share: the record itself, the
// names on the wire, and the encoding that digests are taken of. It knows
// nothing of Kafka clients or stores.
package record

import (
	"fmt"
	"time"
)

// The topics. Event topics are EventTopic(eventKey).
const (
	TopicCommand = "svc.command"
	TopicCall    = "svc.call"
	TopicAccess  = "svc.access"
	TopicSession = "svc.session"
	// TopicCheckpoint holds what proves the others.
	TopicCheckpoint = "svc.checkpoint"

	EventTopicPrefix = "svc.event."
)

// EventTopic is the topic, and the message key of the contract, of an event key.
func EventTopic(eventKey string) string { return EventTopicPrefix + eventKey }

// The headers that hooklog's own records carry.
const (
	// HeaderType names what the value is, with its version: "command/1".
	HeaderType = "svc-type"
	// HeaderMinReader is the lowest reader level that may fold the record.
	HeaderMinReader = "svc-min-reader"

	HeaderTraceID = "svc-trace-id"
	HeaderLast6   = "svc-last6"
	// HeaderEventKey says which key the call of a record on svc.call is of.
	HeaderEventKey = "svc-event-key"
	// HeaderDepth counts the events that led to this one: a pipeline sends an event
	// that starts another. Without it none did.
	HeaderDepth = "svc-depth"

	HeaderTraceparent = "traceparent"
	HeaderTracestate  = "tracestate"
)

// ReaderLevel is the highest level of the record form that this binary folds.
const ReaderLevel = 1

// Header is one record header; order and repeats matter.
type Header struct {
	Key   string
	Value []byte
}

// Position is a place on the log.
type Position struct {
	Topic     string
	Partition int32
	Offset    int64
}

func (p Position) String() string {
	return fmt.Sprintf("%s/%d@%d", p.Topic, p.Partition, p.Offset)
}

// Record is one record of the log. Time has the millisecond precision of Kafka.
type Record struct {
	Position
	LeaderEpoch int32
	Time        time.Time
	Key         []byte
	Headers     []Header
	Value       []byte
}

// Header gives the value of the first header with that key.
func (r *Record) Header(key string) string {
	for i := range r.Headers {
		if r.Headers[i].Key == key {
			return string(r.Headers[i].Value)
		}
	}
	return ""
}
