package checkpoints

import (
	"context"
	"errors"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/proof"
	"hooklog/domain/record"
)

// Receipt proves by the newest checkpoint that a record is on the log. It is a
// conflict that no checkpoint covers it yet.
func (s *Signer) Receipt(ctx context.Context, at record.Position) (proof.Receipt, error) {
	signed, covered := s.Newest()
	if !covered || !covers(signed, at) {
		signed, _ = s.Latest(ctx)
		if !covers(signed, at) {
			return proof.Receipt{}, s.uncovered()
		}
	}
	head, _ := signed.Head(at.Topic, at.Partition)
	siblings, err := s.Trees.Prove(at, head.Size)
	if errors.Is(err, proof.ErrUnknown) {
		return proof.Receipt{}, fault.New(fault.Conflict, "This instance cannot prove the record: it began to read the log behind it, or is not there yet.").Because(err)
	}
	if err != nil {
		return proof.Receipt{}, err
	}
	r, err := s.Journal.ReadAt(ctx, at)
	if err != nil {
		return proof.Receipt{}, err
	}
	receipt := proof.Receipt{Record: r, Proof: siblings, Checkpoint: signed.Note}
	if err := receipt.Check(signed.Checkpoint); err != nil {
		return proof.Receipt{}, fault.New(fault.Conflict, "The record cannot be proved: the log differs from what was signed.").Because(err)
	}
	return receipt, nil
}

func covers(signed proof.Signed, at record.Position) bool {
	h, known := signed.Head(at.Topic, at.Partition)
	return known && at.Offset >= h.Begun && at.Offset < h.Size
}

// uncovered says when the record will be proved.
func (s *Signer) uncovered() error {
	if s.interval == 0 {
		return fault.New(fault.Conflict, "No checkpoint covers the record yet; run checkpoint.put.")
	}
	return fault.New(fault.Conflict, "No checkpoint covers the record yet; one is signed every %s, and by checkpoint.put.", s.interval).
		After(s.interval.Round(time.Second))
}
