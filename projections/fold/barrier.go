package fold

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"hooklog/domain/fault"
)

const (
	barrierRate    = 10 // looks at the log's end per second
	barrierTimeout = 5 * time.Second
)

// barrier lets many callers share one look at the end of the log. A caller may
// only join a look that has not begun: one that has could miss what was
// appended just before the call.
type barrier struct {
	look    func(context.Context) error
	limiter *rate.Limiter
	mu      sync.Mutex
	pending *flight
}

type flight struct {
	done chan struct{}
	err  error
}

func newBarrier(look func(context.Context) error) *barrier {
	return &barrier{look: look, limiter: rate.NewLimiter(barrierRate, barrierRate)}
}

func (b *barrier) pass(ctx context.Context) error {
	b.mu.Lock()
	f := b.pending
	if f == nil {
		f = &flight{done: make(chan struct{})}
		b.pending = f
		go b.fly(f) //nolint:gosec // no caller's context may end a look that others share
	}
	b.mu.Unlock()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *barrier) fly(f *flight) {
	ctx, cancel := context.WithTimeout(context.Background(), barrierTimeout)
	defer cancel()
	err := b.limiter.Wait(ctx)
	b.mu.Lock()
	b.pending = nil
	b.mu.Unlock()
	if err == nil {
		err = b.look(ctx)
	}
	if err != nil {
		f.err = fault.New(fault.Unavailable, "The service cannot tell whether it is up to date.").Because(err)
	}
	close(f.done)
}
