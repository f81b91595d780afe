package runs

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
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

// orderRow is a run's place in an order, the newest call first, and what stands
// there. Places stand in cursors, so they tell neither the correlation id, which
// opens the call's result, nor the pipeline.
func orderRow(order []byte, received time.Time, correlationID, listener string) (key, value []byte) {
	id := uuid.MustParse(correlationID)
	value = slices.Concat(id[:], []byte(listener))
	call, run := sha256.Sum256(id[:]), sha256.Sum256(value)
	return slices.Concat(order, []byte(backwards(received)), call[:markSize], run[:markSize]), value
}

// markSize is how much of its hash tells a call from all others of its moment, and
// a run from the others of its call, which it follows.
const markSize = 8

// backwards is a time as a key part that sorts the latest first.
func backwards(t time.Time) string { return store.Ordered(^uint64(t.UnixMilli())) }

// place is where a run stands in an order.
type place struct {
	received time.Time // in whole milliseconds
	id       uuid.UUID
	listener string
}

// placeOf reads an orderRow, whose key is that behind the order's own part.
func placeOf(key, value []byte) (p place) {
	p.received = time.UnixMilli(int64(^binary.BigEndian.Uint64(key)))
	p.listener = string(value[copy(p.id[:], value):])
	return p
}
