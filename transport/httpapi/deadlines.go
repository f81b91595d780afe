package httpapi

import (
	"context"
	"sync/atomic"
	"time"
)

// deadlineEra is how much earlier than asked for a shared deadline may be.
const deadlineEra = 500 * time.Millisecond

// deadlines gives contexts that end after a time. All who ask within a moment
// share one: a context and a timer for each call would cost more than to wait.
type deadlines struct {
	after   time.Duration
	current atomic.Pointer[deadline]
}

type deadline struct {
	ctx   context.Context
	until time.Time // from then on, another one is given
}

func (d *deadlines) context() context.Context {
	now := time.Now()
	if c := d.current.Load(); c != nil && now.Before(c.until) {
		return c.ctx
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.after)
	context.AfterFunc(ctx, cancel)
	d.current.Store(&deadline{ctx: ctx, until: now.Add(deadlineEra)})
	return ctx
}
