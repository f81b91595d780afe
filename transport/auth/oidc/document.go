package oidc

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// askAgain is the least time between two tries when the issuer does not answer.
	askAgain = time.Second
	// renewAgain is the least time between two renewals of what is held, because
	// something seemed to be missing: anybody can make it seem so.
	renewAgain = time.Minute
	// aged is when a document is renewed although nothing seems to be missing: a
	// key that the issuer withdrew must not be trusted for ever.
	aged = 10 * time.Minute
)

// document is something that the issuer publishes. It is fetched when it is first
// needed, by one at a time, and kept whatever happens to the issuer.
type document[T any] struct {
	name    string
	log     *slog.Logger
	now     func() time.Time
	fetch   func(context.Context) (T, error)
	flights singleflight.Group

	mu      sync.Mutex
	held    bool
	value   T
	fetched time.Time
	// failure is what the last try ended with; before next there is no other.
	failure error
	next    time.Time
}

func newDocument[T any](name string, deps Deps, fetch func(context.Context) (T, error)) *document[T] {
	return &document[T]{name: name, log: deps.Log, now: deps.Now, fetch: fetch}
}

// current gives the document without asking the issuer where it can.
func (d *document[T]) current(ctx context.Context) (T, error) {
	d.mu.Lock()
	value, held, fetched, next := d.value, d.held, d.fetched, d.next
	d.mu.Unlock()
	if !held {
		return together(ctx, &d.flights, "", d.first)
	}
	if now := d.now(); now.Sub(fetched) >= aged && !now.Before(next) {
		d.flights.DoChan("", func() (any, error) { return d.ask(context.WithoutCancel(ctx), 0) }) // nobody waits for it
	}
	return value, nil
}

// first fetches the document unless a flight that has just ended brought it.
func (d *document[T]) first(ctx context.Context) (T, error) {
	d.mu.Lock()
	value, held := d.value, d.held
	d.mu.Unlock()
	if held {
		return value, nil
	}
	return d.ask(ctx, 0)
}

// renewed asks the issuer, unless it was asked just now: then what came of that is
// the answer. With an error comes what is held.
func (d *document[T]) renewed(ctx context.Context) (T, error) {
	if value, early, err := d.early(); early {
		return value, err
	}
	return together(ctx, &d.flights, "", func(ctx context.Context) (T, error) { return d.ask(ctx, renewAgain) })
}

func (d *document[T]) early() (_ T, early bool, _ error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.value, d.now().Before(d.next), d.failure
}

// ask fetches the document. Then nobody else does for the pause, which is needed
// after what anybody can bring about.
func (d *document[T]) ask(ctx context.Context, pause time.Duration) (T, error) {
	if value, early, err := d.early(); early {
		return value, err
	}
	value, err := d.fetch(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		if d.held && d.failure == nil {
			d.log.Warn("A document of the issuer cannot be renewed; the one held goes on", "document", d.name, "error", err)
		}
		d.failure, d.next = err, d.now().Add(askAgain)
		return d.value, err
	}
	d.failure, d.next = nil, d.now().Add(pause)
	d.held, d.value, d.fetched = true, value, d.now()
	return value, nil
}
