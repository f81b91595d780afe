package fold

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// LeaseLife is how long an instance may answer from its fold without having
	// confirmed that the fold is current.
	LeaseLife = 2 * time.Second
	// leaseRenewal is how often it confirms it.
	leaseRenewal = 500 * time.Millisecond
)

// Lease knows whether a fold is current: it is, for LeaseLife, when it has
// reached the end that the log had at some moment. So whoever changed the log
// and waited for LeaseLife knows that no instance answers from before the change.
type Lease struct {
	runner *Runner
	// confirmed is when the last end that was reached had been asked for, as time
	// since epoch.
	confirmed atomic.Int64
	// epoch gives monotonic times: the clock of the wall may be set.
	epoch time.Time
}

// NewLease makes a lease on a runner's fold; Run keeps it.
func NewLease(r *Runner) *Lease {
	l := &Lease{runner: r, epoch: time.Now()}
	l.confirmed.Store(-int64(LeaseLife)) // so long ago that it is over
	return l
}

// Run renews the lease again and again until ctx ends.
func (l *Lease) Run(ctx context.Context) {
	tick := time.NewTicker(leaseRenewal)
	defer tick.Stop()
	for {
		l.Renew(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Renew confirms the fold once. A look that fails is no error: the lease runs out.
func (l *Lease) Renew(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, LeaseLife)
	defer cancel()
	asked := time.Since(l.epoch) // before the log is asked, not after
	if err := l.runner.catchUp(ctx); err == nil {
		l.confirmed.Store(int64(asked))
	}
}

// Valid reports whether the fold may be answered from now.
func (l *Lease) Valid() bool {
	return time.Since(l.epoch)-time.Duration(l.confirmed.Load()) < LeaseLife
}
