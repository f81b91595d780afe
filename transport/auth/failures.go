package auth

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/record"
)

// reasons counts by the names of the fault kinds.
type reasons = map[string]int64

// failures counts the log-ins that failed, by the network they came from.
// Whatever comes, a period is one small record and a fixed amount of memory: the
// first networks of the period are told apart, all others are the rest.
type failures struct {
	GuardDeps

	mu        sync.Mutex
	since     time.Time
	byNetwork map[netip.Prefix]reasons
	rest      reasons
	timer     *time.Timer // nil while nothing is counted
	closed    bool
}

func (f *failures) count(network netip.Prefix, kind fault.Kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if f.timer == nil {
		f.since = f.Now()
		f.byNetwork, f.rest = make(map[netip.Prefix]reasons), make(reasons)
		f.timer = time.AfterFunc(period, f.flush)
	}
	counts, known := f.byNetwork[network]
	switch {
	case known:
	case len(f.byNetwork) < access.MaxNetworks:
		counts = make(reasons)
		f.byNetwork[network] = counts
	default:
		counts = f.rest
	}
	counts[kind.String()]++
}

func (f *failures) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flushLocked()
}

// flushLocked hands the counts to the log and does not wait: no answer depends
// on them.
func (f *failures) flushLocked() {
	if f.timer == nil {
		return
	}
	f.timer.Stop()
	f.timer = nil
	counted := access.Failures{
		Instance: f.Instance,
		From:     f.since.UTC().Truncate(time.Millisecond),
		To:       f.Now().UTC().Truncate(time.Millisecond),
		Rest:     f.rest,
	}
	for _, network := range slices.SortedFunc(maps.Keys(f.byNetwork), netip.Prefix.Compare) {
		counted.Networks = append(counted.Networks, access.Network{Prefix: network, Reasons: f.byNetwork[network]})
	}
	f.byNetwork, f.rest = nil, nil
	rec, err := counted.Encode(f.Partitions())
	if err != nil {
		f.failed(record.Position{}, err)
		return
	}
	f.Journal.Append(&rec, f.failed)
}

func (f *failures) failed(_ record.Position, err error) {
	if err != nil {
		f.Log.Warn("Counts of failed log-ins were not recorded", "error", err)
	}
}

func (f *failures) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flushLocked()
	f.closed = true
}
