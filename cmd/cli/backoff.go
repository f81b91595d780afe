package cli

import (
	"context"
	"time"
)

// backOff waits longer each time, until what is waited for has worked.
type backOff struct{ next time.Duration }

// first reports that nothing has failed since it worked.
func (b *backOff) first() bool { return b.next == 0 }

// wait waits, at least as long as it was asked to.
func (b *backOff) wait(ctx context.Context, asked time.Duration) {
	b.next = min(max(firstPause, 2*b.next), longestPause)
	sleep(ctx, max(b.next, min(asked, 2*longestPause)))
}

// over begins anew, and reports whether something had failed.
func (b *backOff) over() bool {
	failed := b.next > 0
	b.next = 0
	return failed
}

// sleep ends early with ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
