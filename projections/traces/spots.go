package traces

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// spot is where a call of a key lies on svc.call, and its row here.
type spot struct {
	partition int32
	offset    int64
	day       day
	place     []byte
	last6     string
}

// pastAllSpots sorts behind every partition and offset.
var pastAllSpots = bytes.Repeat([]byte{0xff}, spotSize)

func decodeSpot(d day, key, value []byte) (s spot) {
	at := key[len(key)-spotSize:]
	s.day = d
	s.partition, s.offset = spotted(at)
	s.place = slices.Concat(value[:timeSize], at)
	s.last6 = string(value[timeSize:])
	return s
}

// lastSpots gives for each partition the last call of a key on a day.
func (t *Traces) lastSpots(d day, eventKey string) (spots []spot, err error) {
	prefix := order(d, byKey, eventKey)
	for after, found := []byte(nil), true; found; {
		found = false
		var partition int32
		err = t.store.Scan(prefix, after, func(key, value []byte) bool {
			partition, found = decodeSpot(d, key, value).partition, true
			return false
		})
		if err != nil || !found {
			break
		}
		own := appendPartition(bytes.Clone(prefix), partition)
		key, value, ok, err := t.store.Last(own)
		if err != nil {
			return nil, err
		}
		if ok {
			spots = append(spots, decodeSpot(d, key, value))
		}
		after = slices.Concat(own, pastAllSpots[4:])
	}
	return spots, err
}

// heads gives for each partition the first call of a key on a day that was not read.
func (t *Traces) heads(d day, eventKey string, read progress) (heads []spot, err error) {
	prefix := order(d, byKey, eventKey)
	for after, found := []byte(nil), true; found; {
		found = false
		var first spot
		err = t.store.Scan(prefix, after, func(key, value []byte) bool {
			first, found = decodeSpot(d, key, value), true
			return false
		})
		if err != nil || !found {
			break
		}
		own := []spot{first}
		if next := read[first.partition]; first.offset < next {
			if own, err = t.spots(d, eventKey, first.partition, next, 1); err != nil {
				break
			}
		}
		heads = append(heads, own...)
		after = slices.Concat(appendPartition(bytes.Clone(prefix), first.partition), pastAllSpots[4:])
	}
	return heads, err
}

// spots gives the calls of a key on a day and partition, from the offset on, at
// most limit of them.
func (t *Traces) spots(d day, eventKey string, partition int32, from int64, limit int) (found []spot, err error) {
	prefix := appendPartition(order(d, byKey, eventKey), partition)
	var after []byte
	if from > 0 {
		after = binary.BigEndian.AppendUint64(bytes.Clone(prefix), uint64(from-1))
	}
	err = t.store.Scan(prefix, after, func(key, value []byte) bool {
		found = append(found, decodeSpot(d, key, value))
		return len(found) < limit
	})
	return found, err
}
