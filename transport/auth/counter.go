package auth

import (
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/refused"
)

// countPeriod is how long refusals are counted before the counts go to the log.
const countPeriod = time.Minute

// reasons counts by the names of the fault kinds.
type reasons = map[string]int64

// CounterDeps are what a counter works with.
type CounterDeps struct {
	// Instance names this process on the log.
	Instance string
	Log      *slog.Logger
	Now      func() time.Time
	Journal  Journal
	// Encode gives the record of the counts.
	Encode func(refused.Counts) (record.Record, error)
}

// Counter counts refusals by the network they came from. Whatever comes, a period
// is one small record and a fixed amount of memory: the first networks of the
// period are told apart, all others are the rest.
type Counter struct {
	CounterDeps

	mu        sync.Mutex
	since     time.Time
	byNetwork map[netip.Prefix]reasons
	rest      reasons
	period    *time.Timer // nil while nothing is counted
	closed    bool
}

// NewCounter makes a counter.
func NewCounter(deps CounterDeps) *Counter { return &Counter{CounterDeps: deps} }

// Count counts one refusal.
func (c *Counter) Count(network netip.Prefix, kind fault.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if c.period == nil {
		c.since = c.Now()
		c.byNetwork, c.rest = make(map[netip.Prefix]reasons), make(reasons)
		c.period = time.AfterFunc(countPeriod, c.flush)
	}
	counts, known := c.byNetwork[network]
	switch {
	case known:
	case len(c.byNetwork) < refused.MaxNetworks:
		counts = make(reasons)
		c.byNetwork[network] = counts
	default:
		counts = c.rest
	}
	counts[kind.String()]++
}

// Close hands over the last counts.
func (c *Counter) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushLocked()
	c.closed = true
}

func (c *Counter) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushLocked()
}

// flushLocked hands the counts to the log and does not wait: no answer depends
// on them, and there are new ones soon.
func (c *Counter) flushLocked() {
	if c.period == nil {
		return
	}
	c.period.Stop()
	c.period = nil
	counted := refused.Counts{
		Instance: c.Instance,
		From:     c.since.UTC().Truncate(time.Millisecond),
		To:       c.Now().UTC().Truncate(time.Millisecond),
		Rest:     c.rest,
	}
	for _, network := range slices.SortedFunc(maps.Keys(c.byNetwork), netip.Prefix.Compare) {
		counted.Networks = append(counted.Networks, refused.Network{Prefix: network, Reasons: c.byNetwork[network]})
	}
	c.byNetwork, c.rest = nil, nil
	rec, err := c.Encode(counted)
	if err != nil {
		c.failed(record.Position{}, err)
		return
	}
	c.Journal.Append(&rec, c.failed)
}

func (c *Counter) failed(_ record.Position, err error) {
	if err != nil {
		c.Log.Warn("Counts of refusals were not recorded", "error", err)
	}
}
