package traces

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

// The forms of a call's row, behind the time between receiving and logging. What
// Pebble writes again and again as it grows is most of the cost of a call here. So
// the usual record is kept without what its key or another member says already.
const (
	asIs  = 0 // the value of the record
	short = 1
)

// appendCall appends the row of a call.
func appendCall(b []byte, id uuid.UUID, a *call.Accepted, r *record.Record) []byte {
	b = binary.AppendVarint(b, r.Time.UnixMilli()-a.Received.UnixMilli())
	random, usual := strings.CutPrefix(a.TraceID, a.Last6+":")
	usual = usual && a.Genuine() && !strings.ContainsAny(a.Event.SHA256, "ABCDEF") &&
		a.Received.Location() == time.UTC && a.Received.Nanosecond()%int(time.Millisecond) == 0
	if !usual {
		return append(append(b, asIs), r.Value...)
	}
	b = append(append(b, short), id[:]...)
	b, _ = hex.AppendDecode(b, []byte(a.Event.SHA256)) // which is genuine
	for _, number := range []int64{int64(a.Event.Partition), a.Event.Offset, int64(a.Size)} {
		b = binary.AppendVarint(b, number)
	}
	for _, text := range []string{random, a.EventKey, a.Method, a.Address} {
		b = appendText(b, text)
	}
	for _, listener := range a.Listeners {
		b = appendText(b, listener)
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

var errRow = errors.New("the row of a call cannot be read")

// decodeCall reads the row of a call.
func decodeCall(last6 string, place, value []byte) (found call.Found, err error) {
	if len(place) != placeSize {
		return found, errRow
	}
	v := row{rest: value}
	var received time.Time
	received, found.Position = placed(place)
	found.Logged = received.Add(time.Duration(v.number()) * time.Millisecond)
	switch form := v.bytes(1); {
	case v.ended:
		return found, errRow
	case form[0] == asIs:
		found.Accepted, err = call.DecodeAccepted(v.rest)
		return found, err
	}
	found.Last6, found.Received = last6, received
	found.CorrelationID = uuid.UUID(v.bytes(len(uuid.UUID{}))).String()
	found.Event.SHA256 = hex.EncodeToString(v.bytes(len(record.Digest{})))
	found.Event.Partition, found.Event.Offset, found.Size = int32(v.number()), v.number(), int(v.number())
	found.TraceID, found.EventKey, found.Method, found.Address = last6+":"+v.text(), v.text(), v.text(), v.text()
	found.Event.Topic = record.EventTopic(found.EventKey)
	for !v.ended && len(v.rest) > 0 {
		found.Listeners = append(found.Listeners, v.text())
	}
	if v.ended {
		return call.Found{}, errRow
	}
	return found, nil
}

// row is what is left of a row's value.
type row struct {
	rest []byte
	// ended says that more was taken than there was.
	ended bool
}

// bytes takes so many, which are zero where they are not there.
func (r *row) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.ended, r.rest = true, nil
		return make([]byte, max(n, 0))
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *row) number() int64 {
	number, n := binary.Varint(r.rest)
	r.bytes(max(n, 1))
	return number
}

func (r *row) text() string {
	length, n := binary.Uvarint(r.rest)
	r.bytes(max(n, 1))
	if length > uint64(len(r.rest)) {
		r.ended, r.rest = true, nil
		return ""
	}
	return string(r.bytes(int(length)))
}
