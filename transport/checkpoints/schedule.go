package checkpoints

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// signTimeout bounds a checkpoint of the schedule: the next one comes soon.
	signTimeout = 30 * time.Second
	// sinkTimeout bounds the way of a checkpoint to the sink.
	sinkTimeout = 10 * time.Second
)

// Run signs every interval, and hands to the sink what has been signed, until ctx
// ends.
func (s *Signer) Run(ctx context.Context) {
	if err := s.settle(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn("Trees were not held against the newest checkpoint", "error", err)
	}
	var due <-chan time.Time // never, unless there is an interval
	if s.interval > 0 {
		// Instances that started together must not sign together.
		due = time.After(s.interval/2 + rand.N(s.interval/2)) //nolint:gosec // no secret
	}
	for {
		select {
		case <-due:
			due = time.After(s.interval)
			if err := s.signWhenDue(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("Checkpoint was not signed", "error", err)
			}
		case <-s.wake:
		case <-ctx.Done():
			return
		}
		s.deliver(ctx)
	}
}

// settle makes the trees go on from what was signed, so that receipts can be
// written before the next checkpoint.
func (s *Signer) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, signTimeout)
	defer cancel()
	if err := s.take(ctx); err != nil {
		return err
	}
	defer func() { <-s.turn }()
	_, _, err := s.next(ctx)
	return err
}

// signWhenDue signs what has grown, unless another instance just did.
func (s *Signer) signWhenDue(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, signTimeout)
	defer cancel()
	if err := s.take(ctx); err != nil {
		return err
	}
	defer func() { <-s.turn }()
	before, heads, err := s.next(ctx)
	// A clock that was ahead must not keep everybody from signing until then.
	if err != nil || s.Now().Sub(before.Time).Abs() < s.interval/2 || !before.Grown(heads) {
		return err
	}
	_, err = s.put(ctx, heads)
	return err
}

// deliver hands the newest checkpoint to the sink, if that has it not. What the
// sink did not take it gets with the next one.
func (s *Signer) deliver(ctx context.Context) {
	signed, known := s.Newest()
	if s.Sink == nil || !known || signed.Note == s.delivered {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sinkTimeout)
	defer cancel()
	if err := s.hand(ctx, signed.Note); err != nil {
		s.failures.Add(1)
		s.Log.Warn("Sink did not take the checkpoint", "error", err)
		return
	}
	s.delivered = signed.Note
}

// hand replaces what the sink holds. What lay there when this instance started is
// held against the log first: were the log rolled back, it alone would show that.
func (s *Signer) hand(ctx context.Context, note string) error {
	if s.delivered == "" {
		held, err := s.Sink.Held(ctx)
		if err != nil {
			return err
		}
		if err := s.confirm(ctx, held); err != nil {
			return fmt.Errorf("the sink keeps what it has: %w", err)
		}
	}
	return s.Sink.Put(ctx, note)
}

// confirm reports that the log lacks what a note says. Nothing, and what this
// log's key did not sign, says nothing of it.
func (s *Signer) confirm(ctx context.Context, note string) error {
	held, err := s.open([]byte(note))
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if err := s.Current(ctx); err != nil {
		return err
	}
	return s.compare(ctx, held, s.Trees.Heads())
}
