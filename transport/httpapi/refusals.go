package httpapi

import (
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/record"
)

// refusalPeriod is how long refused calls are counted before the counts go to
// the log.
const refusalPeriod = time.Minute

// reasons counts by the names of the fault kinds.
type reasons = map[string]int64

// refusals counts the calls that were refused, by the network they came from.
// Whatever comes, a period is one small record and a fixed amount of memory: the
// first networks of the period are told apart, all others are the rest.
type refusals struct {
	instance   string
	log        *slog.Logger
	now        func() time.Time
	journal    CallJournal
	partitions func() int32

	mu        sync.Mutex
	since     time.Time
	byNetwork map[netip.Prefix]reasons
	rest      reasons
	period    *time.Timer // nil while nothing is counted
	closed    bool
}

func (r *refusals) count(from netip.Addr, kind fault.Kind) {
	network := call.NetworkOf(from)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.period == nil {
		r.since = r.now()
		r.byNetwork, r.rest = make(map[netip.Prefix]reasons), make(reasons)
		r.period = time.AfterFunc(refusalPeriod, r.flush)
	}
	counts, known := r.byNetwork[network]
	switch {
	case known:
	case len(r.byNetwork) < call.MaxNetworks:
		counts = make(reasons)
		r.byNetwork[network] = counts
	default:
		counts = r.rest
	}
	counts[kind.String()]++
}

func (r *refusals) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushLocked()
}

// flushLocked hands the counts to the log and does not wait: nobody depends on
// them, and there are new ones soon.
func (r *refusals) flushLocked() {
	if r.period == nil {
		return
	}
	r.period.Stop()
	r.period = nil
	counted := call.Rejected{
		Instance: r.instance,
		From:     r.since.UTC().Truncate(time.Millisecond),
		To:       r.now().UTC().Truncate(time.Millisecond),
		Rest:     r.rest,
	}
	for _, network := range slices.SortedFunc(maps.Keys(r.byNetwork), netip.Prefix.Compare) {
		counted.Networks = append(counted.Networks, call.Network{Prefix: network, Reasons: r.byNetwork[network]})
	}
	r.byNetwork, r.rest = nil, nil
	rec, err := counted.Encode(record.Spread(r.instance, r.partitions()))
	if err != nil {
		r.failed(record.Position{}, err)
		return
	}
	r.journal.Append(&rec, r.failed)
}

func (r *refusals) failed(_ record.Position, err error) {
	if err != nil {
		r.log.Warn("counts of refused calls not written", "error", err)
	}
}

// close hands over the last counts.
func (r *refusals) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushLocked()
	r.closed = true
}
