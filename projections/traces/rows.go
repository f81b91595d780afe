package traces

import (
	"encoding/binary"
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
	byID    = 'i' // correlation id → place, last6
	byKey   = 'k' // event key, spot → time, last6
)

// A spot is where a record lies on svc.call, in the order of the log. A place is
// where a call stands among those of the same last6 or trace id, the one received
// last first: its time and its spot. Places stand in cursors, so the correlation id,
// which opens the call's result, is not in them.
const (
	timeSize  = 8
	spotSize  = 4 + 8 // partition and offset
	placeSize = timeSize + spotSize
)

func appendPlace(b []byte, received time.Time, at record.Position) []byte {
	return appendSpot(appendBackwards(b, received), at.Partition, at.Offset)
}

// placed reads a place.
func placed(place []byte) (received time.Time, at record.Position) {
	received = time.UnixMilli(int64(^binary.BigEndian.Uint64(place))).UTC()
	at.Topic = record.TopicCall
	at.Partition, at.Offset = spotted(place[timeSize:])
	return received, at
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

func appendSpot(b []byte, partition int32, offset int64) []byte {
	return binary.BigEndian.AppendUint64(appendPartition(b, partition), uint64(offset))
}

func spotted(spot []byte) (partition int32, offset int64) {
	return int32(binary.BigEndian.Uint32(spot)), int64(binary.BigEndian.Uint64(spot[4:]))
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
	w.value = appendCall(w.value[:0], id, a, r)
	w.key = appendPlace(appendOrder(w.key[:0], d, byLast6, a.Last6), a.Received, r.Position)
	if err := w.batch.Set(w.key, w.value); err != nil {
		return err
	}

	w.value = append(w.value[:0], a.Last6...)
	w.key = appendPlace(appendOrder(w.key[:0], d, byTrace, a.TraceID), a.Received, r.Position)
	if err := w.batch.Set(w.key, w.value); err != nil {
		return err
	}

	w.value = append(appendPlace(w.value[:0], a.Received, r.Position), a.Last6...)
	w.key = append(append(d.append(w.key[:0]), byID), id[:]...)
	if err := w.batch.Add(w.key, w.value); err != nil { // of two with one id the first counts
		return err
	}

	if !a.Genuine() {
		return nil
	}
	w.value = append(appendBackwards(w.value[:0], a.Received), a.Last6...)
	w.key = appendSpot(appendOrder(w.key[:0], d, byKey, a.EventKey), r.Partition, r.Offset)
	return w.batch.Set(w.key, w.value)
}
