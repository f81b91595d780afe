package runner

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

const (
	// maxHeld is how many runs of a partition there are at once or wait for a
	// place, without those that wait for others of their event key; nothing is read
	// beyond them.
	maxHeld = 256
	// maxOpen is how many runs are remembered behind the lowest call that is not
	// complete: a long run does not hold up the others.
	maxOpen = 64 << 10

	commitEvery   = time.Second
	commitTimeout = 3 * time.Second
)

// lane is the work on one partition while this member has it.
type lane struct {
	*Runner
	claim    Claim
	fail     context.CancelCauseFunc
	progress progress
	queues   *queues
	held     *semaphore.Weighted
	open     *semaphore.Weighted
	running  sync.WaitGroup
	// committed is of the goroutine that commits, and at last of the one that ends.
	committed int64
}

// serve works on a partition until it is lost. What runs then is given up, before
// the last commit.
func (r *Runner) serve(ctx context.Context, claim Claim) error {
	ctx, fail := context.WithCancelCause(ctx)
	l := &lane{
		Runner: r, claim: claim, fail: fail, queues: newQueues(r.keys.size),
		held: semaphore.NewWeighted(maxHeld), open: semaphore.NewWeighted(maxOpen),
	}
	l.running.Go(func() { l.commit(ctx) })
	err := l.read(ctx)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	fail(err)
	l.running.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	l.commitOnce(last)
	return err
}

func (l *lane) read(ctx context.Context) error {
	for {
		records, err := l.claim.Next(ctx)
		if err != nil {
			return err
		}
		for i := range records {
			if err := l.take(ctx, &records[i]); err != nil {
				return err
			}
		}
	}
}

// take starts the runs that a record asks for. A record that cannot be decoded is
// none; the folds park it.
func (l *lane) take(ctx context.Context, r *record.Record) error {
	var tasks []task
	decoded, err := call.Decode(r)
	if err == nil {
		tasks = l.tasks(r, decoded)
	}
	if len(tasks) == 0 {
		l.progress.pass(r.Offset)
		return nil
	}
	weight := min(len(tasks), maxOpen)
	if err := l.open.Acquire(ctx, int64(weight)); err != nil {
		return err
	}
	e := l.progress.begin(r.Offset, len(tasks), weight)
	for _, t := range tasks {
		key := t.call.EventKey // empty for retries, which do not tell it
		if !l.queues.add(key, job{t, e}) {
			continue
		}
		if err := l.held.Acquire(ctx, 1); err != nil {
			return err
		}
		l.running.Go(func() {
			defer l.held.Release(1)
			l.work(ctx, key)
		})
	}
	return nil
}

// work makes the runs of a key until none waits, or the partition is lost.
func (l *lane) work(ctx context.Context, key string) {
	for ctx.Err() == nil {
		j, ok := l.queues.next(key)
		if !ok {
			return
		}
		if l.handle(ctx, j.task) {
			l.open.Release(int64(l.progress.end(j.entry)))
		}
	}
}

// tasks are the runs that a record asks for. What lies before the end that the log
// had when the partition was given may be complete, what an event was sent for may
// be a repeat, and a retry may have opened nothing: the fold knows.
func (l *lane) tasks(r *record.Record, decoded any) []task {
	switch c := decoded.(type) {
	case call.Accepted:
		if len(c.Listeners) == 0 { // by far the most
			return nil
		}
		doubt := int64(-1)
		switch {
		case r.Offset < l.claim.End():
			doubt = l.claim.End() - 1
		case r.Header(record.HeaderDepth) != "":
			doubt = r.Offset
		}
		from := r.TraceContext()
		tasks := make([]task, len(c.Listeners))
		for i, listener := range c.Listeners {
			tasks[i] = task{call: c, at: r.Position, listener: listener, attempt: 1, doubt: doubt, from: from}
		}
		return tasks
	case call.Retried:
		id := call.Accepted{CorrelationID: c.CorrelationID}
		return []task{{call: id, at: r.Position, listener: c.Listener, attempt: c.Attempt, retry: &c, doubt: max(r.Offset, l.claim.End()-1), from: r.TraceContext()}}
	}
	return nil
}

// commit commits now and then, while the lane works.
func (l *lane) commit(ctx context.Context) {
	ticker := time.NewTicker(commitEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.commitOnce(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// commitOnce commits what is done. That it fails costs whoever is given the
// partition next a few looks.
func (l *lane) commitOnce(ctx context.Context) {
	offset := l.progress.offset()
	if offset == 0 || offset == l.committed {
		return
	}
	if err := l.claim.Commit(ctx, offset); err != nil {
		if ctx.Err() == nil {
			l.Log.Debug("Progress of the pipelines was not committed", "partition", l.claim.Partition(), "error", err)
		}
		return
	}
	l.committed = offset
}
