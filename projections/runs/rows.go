package runs

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"hooklog/projections/store"
)

// The orders of runs: of all, and of those whose latest attempt failed, which are
// few and most asked for.
var (
	allRuns    = store.Key(name, "all", "")
	failedRuns = store.Key(name, "failed", "")
)

// callRow holds a call's history.
func callRow(correlationID string) []byte {
	id := uuid.MustParse(correlationID) // ids were checked before
	return store.Key(name, "call", string(id[:]))
}

// orderRow is a run's place in an order, the newest call first.
func orderRow(order []byte, received time.Time, correlationID, listener string) []byte {
	id := uuid.MustParse(correlationID)
	key := make([]byte, 0, len(order)+8+len(id)+len(listener))
	key = append(append(key, order...), backwards(received)...)
	return append(append(key, id[:]...), listener...)
}

// backwards is a time as a key part that sorts the latest first.
func backwards(t time.Time) string { return store.Ordered(^uint64(t.UnixMilli())) }

// place is where a run stands in an order.
type place struct {
	received time.Time // in whole milliseconds
	id       uuid.UUID
	listener string
}

// placeOf reads the part of an orderRow behind the order's own.
func placeOf(key []byte) (p place) {
	p.received = time.UnixMilli(int64(^binary.BigEndian.Uint64(key)))
	rest := key[8+copy(p.id[:], key[8:]):]
	p.listener = string(rest)
	return p
}
