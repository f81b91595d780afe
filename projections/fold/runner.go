package fold

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"hooklog/domain/record"
	"hooklog/projections/store"
)

// batchRecords bounds a batch, so that a rebuild commits as it goes.
const batchRecords = 4096

// Runner folds one projection over all partitions of its topic.
type Runner struct {
	projection Projection
	store      *store.Store
	source     Source
	log        *slog.Logger
	marks      *marks
	barrier    *barrier
	running    chan struct{}
	parked     atomic.Int64
	goal       atomic.Int64
	pause      time.Duration
	trace      func(records []record.Record, began time.Time)

	// Of Progress: the end that was seen last, and the time since made at which all
	// that was on the log was folded.
	made           time.Time
	end, confirmed atomic.Int64
}

// NewRunner makes a runner; Run makes it go.
func NewRunner(p Projection, s *store.Store, source Source, log *slog.Logger) *Runner {
	r := &Runner{projection: p, store: s, source: source, log: log.With("projection", p.Name()), marks: newMarks(), running: make(chan struct{}), made: time.Now()}
	r.barrier = newBarrier(r.catchUp)
	return r
}

// Paced lets records collect for the pause while many come. To read and commit a
// few at a time costs several times as much as to fold them, so a view that need
// not be newer than that leaves the processors to the calls.
func (r *Runner) Paced(pause time.Duration) *Runner {
	r.pause = pause
	return r
}

// Traced has f told of the records that were folded together since began. Those
// that the log had at the start are not among them: whoever waited for them is gone.
func (r *Runner) Traced(f func(records []record.Record, began time.Time)) *Runner {
	r.trace = f
	return r
}

// Running is closed when the fold has reached the end that the log had at its
// start: from then on the projection answers.
func (r *Runner) Running() <-chan struct{} { return r.running }

// Folded is how many records of the log have been folded, and how many the log
// had at the start.
func (r *Runner) Folded() (done, of int64) { return r.marks.sum(), r.goal.Load() }

// Parked is how many records were parked since the start.
func (r *Runner) Parked() int64 { return r.parked.Load() }

// Name is the projection's name.
func (r *Runner) Name() string { return r.projection.Name() }

// Wait returns when the record at the position has been folded.
func (r *Runner) Wait(ctx context.Context, at record.Position) error {
	return r.marks.wait(ctx, at.Partition, at.Offset+1)
}

// Current returns when all that was on the log at the time of the call has been
// folded. Concurrent callers share one look at the log.
func (r *Runner) Current(ctx context.Context) error { return r.barrier.pass(ctx) }

func (r *Runner) catchUp(ctx context.Context) error {
	bounds, err := r.source.Bounds(ctx, r.projection.Topic())
	if err != nil {
		return err
	}
	return r.reach(ctx, bounds)
}

// reach returns when every partition is folded up to its bound.
func (r *Runner) reach(ctx context.Context, bounds []record.Bounds) error {
	for p, b := range bounds {
		if err := r.marks.wait(ctx, int32(p), b.End); err != nil {
			return err
		}
	}
	return nil
}

// Run folds until ctx ends or the fold must stop. It recovers first: what was
// folded is compared with the log before anything new is.
func (r *Runner) Run(ctx context.Context) error {
	topic, err := r.source.Describe(ctx, r.projection.Topic())
	if err != nil {
		return fmt.Errorf("projection %s: describe %s: %w", r.Name(), r.projection.Topic(), err)
	}
	var goal int64
	for _, b := range topic.Partitions {
		goal += b.End
	}
	r.goal.Store(goal)
	parts := make([]*partition, len(topic.Partitions))
	for i := range topic.Partitions {
		if parts[i], err = r.recover(ctx, topic, int32(i)); err != nil {
			return err
		}
		parts[i].traced = topic.Partitions[i].End
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, p := range parts {
		group.Go(func() error { return p.run(ctx) })
	}
	group.Go(func() error { return r.announce(ctx, topic) })
	return group.Wait()
}

// announce turns the runner to running once the end at the start is reached.
func (r *Runner) announce(ctx context.Context, topic record.Topic) error {
	if err := r.reach(ctx, topic.Partitions); err != nil {
		return err
	}
	close(r.running)
	return nil
}

// partition is the fold of one partition.
type partition struct {
	*Runner
	key  []byte
	at   record.Position // of the next record
	last checkpoint
	// traced is the first offset that is told to trace.
	traced int64
}

func (p *partition) run(ctx context.Context) error {
	tail, err := p.source.Tail(ctx, p.at)
	if err != nil {
		return fmt.Errorf("projection %s: tail %s: %w", p.Name(), p.at, err)
	}
	defer tail.Close()
	for {
		records, err := tail.Next(ctx)
		if err != nil {
			return fmt.Errorf("projection %s: read %s: %w", p.Name(), p.at, err)
		}
		admitted, stop := p.admit(records)
		for batch := range slices.Chunk(admitted, batchRecords) {
			if err := p.fold(batch); err != nil {
				return err
			}
		}
		if stop != nil {
			return stop
		}
		p.collect(ctx, len(records))
	}
}

const (
	// many is how many records at a time are worth collecting; few of them are
	// folded at once.
	many = 4
	// behind is how many come at a time while the fold has to catch up.
	behind = 1024
)

// collect waits for the pause if many records came, or until ctx ends.
func (p *partition) collect(ctx context.Context, came int) {
	if p.pause == 0 || came < many || came >= behind {
		return
	}
	timer := time.NewTimer(p.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// fold applies records and moves the checkpoint in one batch, then notifies.
func (p *partition) fold(records []record.Record) error {
	began := p.began(records)
	batch := &Batch{Batch: p.store.NewBatch(), projection: p.Name()}
	committed, err := p.projection.Fold(batch, records)
	next := p.last.after(&records[len(records)-1])
	if err == nil {
		err = next.save(batch.Batch, p.key)
	}
	if err == nil {
		err = batch.Commit()
	}
	if err = errors.Join(err, batch.Close()); err != nil {
		return fmt.Errorf("projection %s: fold %s: %w", p.Name(), records[0].Position, err)
	}
	p.last = next
	p.at.Offset = next.Next
	if len(batch.parked) > 0 {
		p.parked.Add(int64(len(batch.parked)))
		p.log.Warn("Records were parked, because no release can decode them", "count", len(batch.parked), "until", p.at.String())
	}
	if committed != nil {
		committed()
	}
	p.marks.set(p.at.Partition, next.Next)
	if !began.IsZero() {
		p.trace(records, began)
	}
	return nil
}

// began is the time, where somebody is told of the fold of the records.
func (p *partition) began(records []record.Record) time.Time {
	if p.trace == nil || records[0].Offset < p.traced {
		return time.Time{}
	}
	return time.Now()
}

// admit gives the records that may be folded, and why the one behind them may
// not: a gap in the offsets, or a record of a newer level.
func (p *partition) admit(records []record.Record) ([]record.Record, error) {
	at := p.at
	for i := range records {
		r := &records[i]
		if r.Offset != at.Offset {
			return records[:i], p.stop(at, fmt.Sprintf("the log continues with offset %d", r.Offset),
				"records are missing from the log; restore it from a backup")
		}
		if level := r.Header(record.HeaderMinReader); level != "" {
			n, err := strconv.Atoi(level)
			if err != nil || n > record.ReaderLevel {
				return records[:i], p.stop(at, fmt.Sprintf("the record needs reader level %s and this release has %d", level, record.ReaderLevel),
					"run a newer release")
			}
		}
		at.Offset++
	}
	return records, nil
}

func (p *partition) stop(at record.Position, reason, hint string) error {
	return &Stopped{Projection: p.Name(), At: at, Reason: reason, Hint: hint}
}
