package commands

import (
	"context"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/proof"
)

// Checkpoints signs how far the log has come.
type Checkpoints interface {
	// Sign makes a checkpoint of all that is on the log now.
	Sign(ctx context.Context) (proof.Signed, error)
	// Latest is the newest checkpoint; false means that there is none.
	Latest(ctx context.Context) (proof.Signed, bool)
	// PublicKey is the text by which checkpoints are verified.
	PublicKey() string
}

// Checkpoint is a signed checkpoint as a caller sees it. Only the note is signed;
// the rest says what stands in it.
type Checkpoint struct {
	Origin    string    `json:"origin"`
	Time      time.Time `json:"time"`
	Trees     []Tree    `json:"trees"`
	Note      string    `json:"note"`
	PublicKey string    `json:"publicKey"`
}

// Tree is a tree as a checkpoint names it.
type Tree struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Begun is the offset of the first record that the tree has.
	Begun int64  `json:"begun"`
	Size  int64  `json:"size"`
	Root  []byte `json:"root"`
}

// putCheckpoint signs behind the outcome, so that the checkpoint covers the
// command as well.
func (d *Dispatcher) putCheckpoint(ctx context.Context, req Request) (any, error) {
	c := change{id: commandID(req)}
	if _, err := d.decide(ctx, req, c); err != nil {
		return nil, err
	}
	signed, err := d.Checkpoints.Sign(ctx)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "The checkpoint could not be signed.").Because(err).After(time.Second)
	}
	return d.showCheckpoint(signed), nil
}

func (d *Dispatcher) getCheckpoint(ctx context.Context) (any, error) {
	signed, known := d.Checkpoints.Latest(ctx)
	if !known {
		return nil, fault.New(fault.NotFound, "There is no checkpoint yet; checkpoint.put makes one.")
	}
	return d.showCheckpoint(signed), nil
}

func (d *Dispatcher) showCheckpoint(signed proof.Signed) Checkpoint {
	shown := Checkpoint{
		Origin: signed.Origin, Time: signed.Time, Note: signed.Note, PublicKey: d.Checkpoints.PublicKey(),
		Trees: make([]Tree, 0, len(signed.Heads)),
	}
	for _, h := range signed.Heads {
		shown.Trees = append(shown.Trees, Tree{h.Topic, h.Partition, h.Begun, h.Size, h.Root[:]})
	}
	return shown
}
