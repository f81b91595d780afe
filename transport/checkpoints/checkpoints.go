// Package checkpoints signs how far the log has come: on a schedule and when it is
// asked to, it takes the heads of the trees through an interface, signs them with
// the key of the cluster, and hands them to svc.checkpoint, the log lines and a sink
// outside. It also writes receipts. It makes no tree and checks none: whoever
// doubts the log reads it with another program.
//
// svc.checkpoint is the arbiter among instances: whoever is to sign reads its end
// first and goes on from there, so that trees never shrink and no two instances
// put different roots on record.
package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"

	"hooklog/domain/proof"
	"hooklog/domain/record"
)

// Type is the wire name and version of a record of svc.checkpoint.
const Type = "checkpoint/1"

// Trees are the trees of the log as this instance has folded it.
type Trees interface {
	Heads() []proof.Head
	// Adopt lets a tree go on from a head that was signed.
	Adopt(h proof.Head) error
	// Root and Prove fail with proof.ErrUnknown on what this instance does not keep.
	Root(topic string, partition int32, size int64) (proof.Hash, error)
	Prove(at record.Position, size int64) ([]proof.Hash, error)
}

// Log is the log that holds the checkpoints and what they prove.
type Log interface {
	Bounds(ctx context.Context, topic string) ([]record.Bounds, error)
	ReadAt(ctx context.Context, at record.Position) (record.Record, error)
	AppendWait(ctx context.Context, r *record.Record) (record.Position, error)
}

// Deps are the signer's collaborators.
type Deps struct {
	Log     *slog.Logger
	Now     func() time.Time
	Trees   Trees
	Journal Log
	// Current returns when all that is on the log now has been folded.
	Current func(context.Context) error
	// Sink gets every checkpoint; nil is none.
	Sink Sink
}

// Signer signs checkpoints.
type Signer struct {
	Deps
	interval time.Duration
	public   string
	sign     note.Signer
	verify   note.Verifier

	// turn is held by the one who signs.
	turn chan struct{}
	// wake tells the schedule that there is something for the sink.
	wake chan struct{}

	mu sync.Mutex
	// newest is the last checkpoint that was seen, and at its offset; -1 is none.
	newest proof.Signed
	at     int64

	delivered string // the note that the sink has
	failures  atomic.Int64
}

// New makes a signer with the key of the cluster, for a checkpoint every interval;
// 0 is only when asked.
func New(key proof.Key, ring Opener, interval time.Duration, deps Deps) (*Signer, error) {
	sign, err := open(ring, key)
	if err != nil {
		return nil, err
	}
	verify, err := note.NewVerifier(key.Public)
	if err != nil {
		return nil, fmt.Errorf("public key of the checkpoints: %w", err)
	}
	return &Signer{
		Deps: deps, interval: interval, public: key.Public, sign: sign, verify: verify,
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), at: -1,
	}, nil
}

// PublicKey is the text by which checkpoints are verified.
func (s *Signer) PublicKey() string { return s.public }

// Failures is how often the sink did not take a checkpoint.
func (s *Signer) Failures() int64 { return s.failures.Load() }

// ErrDiffers says that the log is not the one that was signed.
var ErrDiffers = errors.New("the log differs from what was signed")

// Sign makes a checkpoint of all that is on the log now.
func (s *Signer) Sign(ctx context.Context) (proof.Signed, error) {
	if err := s.take(ctx); err != nil {
		return proof.Signed{}, err
	}
	defer func() { <-s.turn }()
	_, heads, err := s.next(ctx)
	if err != nil {
		return proof.Signed{}, err
	}
	return s.put(ctx, heads)
}

func (s *Signer) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// next gives the newest checkpoint, and the heads of the one behind it. Trees that
// this instance began elsewhere than was signed are adopted on the way.
func (s *Signer) next(ctx context.Context) (before proof.Signed, heads []proof.Head, err error) {
	if before, err = s.refresh(ctx); err != nil {
		return before, nil, err
	}
	if err := s.Current(ctx); err != nil {
		return before, nil, err
	}
	folded := s.Trees.Heads()
	heads, adopt := before.Advance(folded)
	if len(adopt) > 0 {
		for _, signed := range adopt {
			if err := s.adopt(ctx, folded, signed); err != nil {
				return before, nil, err
			}
		}
		folded = s.Trees.Heads()
		heads, _ = before.Advance(folded)
	}
	return before, heads, s.compare(ctx, before.Checkpoint, folded)
}

// compare holds what was signed before against the log as it is now, and against
// what has been folded of it: a log that was changed or cut in between is not
// signed again.
func (s *Signer) compare(ctx context.Context, before proof.Checkpoint, folded []proof.Head) error {
	if err := s.reaches(ctx, before.Heads); err != nil {
		return err
	}
	for _, own := range folded {
		signed, known := before.Head(own.Topic, own.Partition)
		if !known || signed.Begun != own.Begun || signed.Size > own.Size {
			continue
		}
		root, err := s.Trees.Root(own.Topic, own.Partition, signed.Size)
		switch {
		case errors.Is(err, proof.ErrUnknown): // the tree goes on from behind it
		case err != nil:
			return err
		case root != signed.Root:
			return fmt.Errorf("%s/%d before offset %d: %w", own.Topic, own.Partition, signed.Size, ErrDiffers)
		}
	}
	return nil
}

// reaches reports a partition that ends before what was signed of it. What has
// been folded does not tell: all of a partition may have expired before.
func (s *Signer) reaches(ctx context.Context, signed []proof.Head) error {
	bounds := make(map[string][]record.Bounds)
	for _, h := range signed {
		if _, asked := bounds[h.Topic]; !asked {
			found, err := s.Journal.Bounds(ctx, h.Topic)
			if err != nil {
				return err
			}
			bounds[h.Topic] = found
		}
		end := int64(0)
		if there := bounds[h.Topic]; int(h.Partition) < len(there) {
			end = there[h.Partition].End
		}
		if end < h.Size {
			return fmt.Errorf("%s/%d ends at %d, and %d records were signed: %w", h.Topic, h.Partition, end, h.Size, ErrDiffers)
		}
	}
	return nil
}

// put signs the heads and puts them on record.
func (s *Signer) put(ctx context.Context, heads []proof.Head) (proof.Signed, error) {
	c := proof.Checkpoint{Origin: s.sign.Name(), Time: s.Now().UTC().Truncate(time.Millisecond), Heads: heads}
	text, err := note.Sign(&note.Note{Text: c.Text()}, s.sign)
	if err != nil {
		return proof.Signed{}, fmt.Errorf("sign checkpoint: %w", err)
	}
	at, err := s.Journal.AppendWait(ctx, &record.Record{
		Position: record.Position{Topic: record.TopicCheckpoint},
		Time:     c.Time,
		Key:      []byte(c.Origin),
		Headers:  []record.Header{{Key: record.HeaderType, Value: []byte(Type)}},
		Value:    text,
	})
	if err != nil {
		return proof.Signed{}, err
	}
	signed := proof.Signed{Checkpoint: c, Note: string(text)}
	s.remember(signed, at.Offset)
	s.Log.Info("Checkpoint signed", "origin", c.Origin, "offset", at.Offset, "trees", described(heads))
	return signed, nil
}

// described are the trees as a log line tells them: even that can convict a log.
func described(heads []proof.Head) []string {
	lines := make([]string, len(heads))
	for i, h := range heads {
		lines[i] = fmt.Sprintf("%s/%d size %d root %x", h.Topic, h.Partition, h.Size, h.Root)
	}
	return lines
}
