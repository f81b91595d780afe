package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"golang.org/x/mod/sumdb/note"

	"hooklog/domain/proof"
	"hooklog/domain/record"
)

// Latest is the newest checkpoint that this instance has seen; false means that
// there is none. It is looked for on the log, and answered from memory where that
// is away.
func (s *Signer) Latest(ctx context.Context) (proof.Signed, bool) {
	if _, err := s.refresh(ctx); err != nil {
		s.Log.Debug("Checkpoints were not read", "error", err)
	}
	return s.Newest()
}

// Newest is Latest without a look at the log.
func (s *Signer) Newest() (proof.Signed, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest, s.at >= 0
}

func (s *Signer) remember(signed proof.Signed, offset int64) {
	s.mu.Lock()
	if offset > s.at {
		s.newest, s.at = signed, offset
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// refresh reads what is behind the newest checkpoint that was seen, from the end
// on. What this cluster's key did not sign is no checkpoint.
func (s *Signer) refresh(ctx context.Context) (proof.Signed, error) {
	end, err := s.end(ctx)
	if err != nil {
		return proof.Signed{}, err
	}
	s.mu.Lock()
	newest, at := s.newest, s.at
	s.mu.Unlock()
	for offset := end - 1; offset > at; offset-- {
		signed, err := s.read(ctx, offset)
		if errors.Is(err, errNoCheckpoint) {
			s.Log.Warn("Record is no checkpoint of this log", "offset", offset, "error", err)
			continue
		}
		if err != nil {
			return proof.Signed{}, err
		}
		s.remember(signed, offset)
		return signed, nil
	}
	return newest, nil
}

func (s *Signer) end(ctx context.Context) (int64, error) {
	bounds, err := s.Journal.Bounds(ctx, record.TopicCheckpoint)
	if err != nil {
		return 0, err
	}
	if len(bounds) != 1 {
		return 0, fmt.Errorf("%s has %d partitions, not 1", record.TopicCheckpoint, len(bounds))
	}
	return bounds[0].End, nil
}

var errNoCheckpoint = errors.New("no checkpoint")

func (s *Signer) read(ctx context.Context, offset int64) (proof.Signed, error) {
	r, err := s.Journal.ReadAt(ctx, record.Position{Topic: record.TopicCheckpoint, Offset: offset})
	if err != nil {
		return proof.Signed{}, err
	}
	if t := r.Header(record.HeaderType); t != Type {
		return proof.Signed{}, fmt.Errorf("%w: record type %q is unknown", errNoCheckpoint, t)
	}
	c, err := s.open(r.Value)
	if err != nil {
		return proof.Signed{}, fmt.Errorf("%w: %w", errNoCheckpoint, err)
	}
	return proof.Signed{Checkpoint: c, Note: string(r.Value)}, nil
}

// open gives the checkpoint of a note that this cluster's key has signed.
func (s *Signer) open(signed []byte) (proof.Checkpoint, error) {
	opened, err := note.Open(signed, note.VerifierList(s.verify))
	if err != nil {
		return proof.Checkpoint{}, err
	}
	return proof.ParseCheckpoint(opened.Text)
}

// adopt lets the tree that was begun elsewhere go on from the earliest head that
// covers its beginning, so that as much as possible can be proved here.
func (s *Signer) adopt(ctx context.Context, folded []proof.Head, signed proof.Head) error {
	own, _ := proof.Checkpoint{Heads: folded}.Head(signed.Topic, signed.Partition)
	earliest, err := s.earliest(ctx, signed, own.Begun)
	if err != nil {
		return err
	}
	return s.Trees.Adopt(earliest)
}

// earliest finds the first head of the signed tree that is not smaller than the
// size. On svc.checkpoint neither sizes nor beginnings ever shrink.
func (s *Signer) earliest(ctx context.Context, signed proof.Head, size int64) (proof.Head, error) {
	s.mu.Lock()
	last := s.at
	s.mu.Unlock()
	found := signed
	var failed error
	sort.Search(int(last), func(i int) bool {
		for offset := int64(i); offset < last && failed == nil; offset++ {
			c, err := s.read(ctx, offset)
			if errors.Is(err, errNoCheckpoint) {
				continue // the next one decides
			}
			if err != nil {
				failed = err
				return true
			}
			h, known := c.Head(signed.Topic, signed.Partition)
			if !known || h.Begun != signed.Begun || h.Size < size {
				return false
			}
			found = h
			return true
		}
		return true
	})
	return found, failed
}
