package runner_test

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/pipelines/actions"
	"hooklog/transport/pipelines/runner"
)

// member is a running runner.
type member struct {
	w     *world
	lose  context.CancelFunc
	ended chan error
	// dead members commit nothing, and what they append does not arrive.
	dead bool
}

// join starts a runner, which gets the partition at once.
func (w *world) join(adjust ...func(*runner.Config)) *member {
	w.t.Helper()
	cfg := runner.Config{Timeout: time.Minute, Parallel: 8}
	for _, f := range adjust {
		f(&cfg)
	}
	m := &member{w: w, ended: make(chan error, 1)}
	r, err := runner.New(cfg, runner.Deps{
		Log:      slog.New(slog.NewTextHandler(&lockedWriter{w: w}, nil)),
		Now:      time.Now,
		Consume:  m.consume,
		Calls:    w,
		Registry: w,
		Events:   w,
		Journal:  m,
		Ring:     w.ring,
		Catalog:  w,
		Steps:    func(o actions.Origin) runner.Steps { return &steps{w, o} },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, lose := context.WithCancel(w.t.Context())
	m.lose = lose
	go func() { m.ended <- r.Run(ctx) }()
	w.t.Cleanup(func() { _ = m.leave() })
	return m
}

type lockedWriter struct{ w *world }

func (l *lockedWriter) Write(p []byte) (n int, err error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.w.out.Write(p)
}

func (m *member) consume(ctx context.Context, serve func(context.Context, runner.Claim) error) error {
	m.w.mu.Lock()
	c := &claim{m: m, next: m.w.committed, end: int64(len(m.w.calls))}
	m.w.mu.Unlock()
	return serve(ctx, c)
}

func (m *member) leave() error {
	m.lose()
	err := <-m.ended
	m.ended <- err
	return err
}

// die ends a member without a trace.
func (m *member) die() {
	m.w.note(func() { m.dead = true })
	_ = m.leave()
}

// AppendWait implements runner.Journal.
func (m *member) AppendWait(ctx context.Context, r *record.Record) (record.Position, error) {
	m.w.mu.Lock()
	dead := m.dead
	m.w.mu.Unlock()
	if dead {
		return record.Position{}, fault.New(fault.Unavailable, "The log does not answer.")
	}
	return m.w.AppendWait(ctx, r)
}

// portion is how many records come at a time.
const portion = 10

// claim is the partition.
type claim struct {
	m         *member
	next, end int64
}

func (*claim) Partition() int32 { return 0 }

func (c *claim) End() int64 { return c.end }

func (c *claim) Next(ctx context.Context) ([]record.Record, error) {
	w := c.m.w
	for {
		w.mu.Lock()
		records, changed := w.calls[c.next:], w.changed
		w.mu.Unlock()
		if len(records) > 0 {
			records = records[:min(portion, len(records))]
			c.next += int64(len(records))
			w.note(func() { w.read = c.next })
			return records, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *claim) Commit(_ context.Context, offset int64) (err error) {
	c.m.w.note(func() {
		if c.m.dead {
			err = errors.New("the member is dead")
			return
		}
		c.m.w.committed = offset
	})
	return err
}
