package traces

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
)

// The kinds of rows below a day. The first holds the call, the others say where
// that row lies.
const (
	byLast6 = 'l' // last6, place → call
	byTrace = 't' // trace id, place → last6
	byID    = 'i' // correlation id → time, last6
	byKey   = 'k' // event key, partition, offset → place, last6
)

// placeSize is the length of a place: where a call stands among those of the same
// last6 or trace id, the one received last first.
const placeSize = 8 + len(uuid.UUID{})

// appendPlace appends the place of a call; times have milliseconds.
func appendPlace(b []byte, received time.Time, id uuid.UUID) []byte {
	return append(appendBackwards(b, received), id[:]...)
}

// appendBackwards appends a time so that the latest sorts first.
func appendBackwards(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, ^uint64(t.UnixMilli()))
}

// appendOrder appends what the rows of one order begin with.
func appendOrder(b []byte, d day, kind byte, of string) []byte {
	return append(append(append(d.append(b), kind), of...), 0)
}

func order(d day, kind byte, of string) []byte { return appendOrder(nil, d, kind, of) }

func idRow(d day, id uuid.UUID) []byte { return append(append(d.append(nil), byID), id[:]...) }

// appendSpot appends where a record lies on svc.call, in the order of the log.
func appendSpot(b []byte, partition int32, offset int64) []byte {
	return binary.BigEndian.AppendUint64(appendPartition(b, partition), uint64(offset))
}

func appendPartition(b []byte, partition int32) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(partition))
}

// writer writes the rows of calls. Its buffers are used again for each row, which
// the batch copies.
type writer struct {
	batch      *fold.Batch
	key, value []byte
}

func (w *writer) add(d day, a *call.Accepted, r *record.Record) error {
	id := uuid.MustParse(a.CorrelationID) // ids were checked before
	w.value = binary.AppendUvarint(w.value[:0], uint64(r.Partition))
	w.value = binary.AppendUvarint(w.value, uint64(r.Offset))
	w.value = binary.AppendVarint(w.value, r.Time.UnixMilli())
	w.value = append(w.value, r.Value...)
	w.key = appendPlace(appendOrder(w.key[:0], d, byLast6, a.Last6), a.Received, id)
	if err := w.batch.Set(w.key, w.value); err != nil {
		return err
	}

	w.value = append(w.value[:0], a.Last6...)
	w.key = appendPlace(appendOrder(w.key[:0], d, byTrace, a.TraceID), a.Received, id)
	if err := w.batch.Set(w.key, w.value); err != nil {
		return err
	}

	w.value = append(appendBackwards(w.value[:0], a.Received), a.Last6...)
	w.key = append(append(d.append(w.key[:0]), byID), id[:]...)
	if err := w.batch.Add(w.key, w.value); err != nil { // of two with one id the first counts
		return err
	}

	if !a.Genuine() {
		return nil
	}
	w.value = append(appendPlace(w.value[:0], a.Received, id), a.Last6...)
	w.key = appendSpot(appendOrder(w.key[:0], d, byKey, a.EventKey), r.Partition, r.Offset)
	return w.batch.Set(w.key, w.value)
}

var errRow = errors.New("the row of a call cannot be read")

// decodeCall reads the row of a call.
func decodeCall(value []byte) (found call.Found, err error) {
	partition, n := binary.Uvarint(value)
	if n <= 0 {
		return found, errRow
	}
	offset, m := binary.Uvarint(value[n:])
	if m <= 0 {
		return found, errRow
	}
	logged, k := binary.Varint(value[n+m:])
	if k <= 0 {
		return found, errRow
	}
	found.Position = record.Position{Topic: record.TopicCall, Partition: int32(partition), Offset: int64(offset)}
	found.Logged = time.UnixMilli(logged).UTC()
	found.Accepted, err = call.DecodeAccepted(value[n+m+k:])
	return found, err
}
