package runs

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"

	"hooklog/domain/call"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/projections/store"
)

// eventRow says where the event of a call lies, in few bytes: there is one for
// every call.
type eventRow struct {
	received  int64 // in milliseconds
	digest    record.Digest
	partition int32
	offset    int64
	key       string
}

// eventOf is the event of a call. One that lies elsewhere than its key says, or
// has no digest, was written by nobody of us and is not found.
func eventOf(a call.Accepted) (eventRow, bool) {
	row := eventRow{received: a.Received.UnixMilli(), partition: a.Event.Partition, offset: a.Event.Offset, key: a.EventKey}
	if len(a.Event.SHA256) != hex.EncodedLen(len(row.digest)) || !strings.HasPrefix(a.Event.Topic, record.EventTopicPrefix) ||
		a.Event.Topic[len(record.EventTopicPrefix):] != a.EventKey {
		return row, false
	}
	_, err := hex.Decode(row.digest[:], []byte(a.Event.SHA256))
	return row, err == nil
}

func (e eventRow) encode() []byte {
	b := make([]byte, 0, 8+len(e.digest)+2*binary.MaxVarintLen64+len(e.key))
	b = binary.BigEndian.AppendUint64(b, uint64(e.received))
	b = append(b, e.digest[:]...)
	b = binary.AppendVarint(b, int64(e.partition))
	b = binary.AppendVarint(b, e.offset)
	return append(b, e.key...)
}

func decodeEvent(b []byte) (e eventRow, err error) {
	const fixed = 8 + len(e.digest)
	if len(b) < fixed {
		return e, errEventRow
	}
	e.received = int64(binary.BigEndian.Uint64(b))
	copy(e.digest[:], b[8:])
	partition, n := binary.Varint(b[fixed:])
	if n <= 0 {
		return e, errEventRow
	}
	offset, m := binary.Varint(b[fixed+n:])
	if m <= 0 {
		return e, errEventRow
	}
	e.partition, e.offset, e.key = int32(partition), offset, string(b[fixed+n+m:])
	return e, nil
}

var errEventRow = errors.New("the row of an event cannot be read")

func (e eventRow) event() call.Event {
	return call.EventAt(record.Position{Topic: record.EventTopic(e.key), Partition: e.partition, Offset: e.offset}, e.digest)
}

// NewestEvent finds the event that was received last of all whose keys fit the
// pattern and are readable, and its key.
func (r *Runs) NewestEvent(pattern string, readable func(key string) bool) (call.Event, string, bool, error) {
	return r.event(newestOf(pattern), func(key string) bool { return pipeline.Match(pattern, key) && readable(key) })
}

// newestOf is what the rows of all keys that fit the pattern begin with.
func newestOf(pattern string) []byte {
	wild := strings.IndexAny(pattern, "*#")
	if wild < 0 {
		return store.Key(name, "newest", pattern, "")
	}
	// A # may stand for no group: then the dot in front of it is not there either.
	return store.Key(name, "newest", strings.TrimSuffix(pattern[:wild], "."))
}

// EventOfTrace finds the event that was received last of those that have the trace
// id and whose keys fit, and its key.
func (r *Runs) EventOfTrace(traceID string, fits func(key string) bool) (call.Event, string, bool, error) {
	return r.event(store.Key(name, "trace", traceID, ""), fits)
}

// event is the newest of the rows that begin with the prefix and fit.
func (r *Runs) event(prefix []byte, fits func(key string) bool) (call.Event, string, bool, error) {
	var newest eventRow
	var found bool
	var failed error
	err := r.store.Scan(prefix, nil, func(_, value []byte) bool {
		var e eventRow
		if e, failed = decodeEvent(value); failed != nil {
			return false
		}
		if fits(e.key) && (!found || e.received > newest.received) {
			newest, found = e, true
		}
		return true
	})
	if err = errors.Join(err, failed); err != nil || !found {
		return call.Event{}, "", false, err
	}
	return newest.event(), newest.key, true, nil
}
