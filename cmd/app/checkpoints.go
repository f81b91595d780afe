package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/fault"
	"hooklog/domain/proof"
	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/projections/fold"
	views "hooklog/projections/proof"
	"hooklog/projections/store"
	"hooklog/transport/checkpoints"
	"hooklog/transport/kafka"
)

// openTrees opens the trees of every topic that is proved.
func openTrees(rows *store.Store) (views.Forest, error) {
	var forest views.Forest
	for _, topic := range []string{record.TopicCommand, record.TopicCall, record.TopicAccess} {
		trees, err := views.New(rows, topic)
		if err != nil {
			return nil, err
		}
		forest = append(forest, trees)
	}
	return forest, nil
}

// openCheckpoints starts to sign what is folded, and tells by which key.
func (e *engine) openCheckpoints() error {
	key, _, err := e.registry.CheckpointKey()
	if err != nil {
		return err
	}
	if err := writePublic(e.cfg.CheckpointKeyPath(), key); err != nil {
		return fmt.Errorf("write the public key of the checkpoints: %w", err)
	}
	e.checkpoints, err = checkpoints.New(key, e.ring, e.cfg.CheckpointInterval, checkpoints.Deps{
		Log:     e.deps.Log,
		Now:     e.deps.Now,
		Trees:   e.trees,
		Journal: provenLog{e.log},
		Current: e.current,
		Sink:    checkpoints.NewSink(e.cfg.CheckpointSink),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { e.checkpoints.Run(ctx) })
	e.onClose(func() error {
		cancel()
		running.Wait()
		return nil
	})
	return nil
}

// current returns when all that is on the proved topics now has been folded.
func (e *engine) current(ctx context.Context) error {
	for _, r := range []*fold.Runner{e.commands, e.calls, e.accesses} {
		if err := r.Current(ctx); err != nil {
			return err
		}
	}
	return nil
}

// unproven is how long what is on the log has been without a checkpoint: at most
// since somebody last asked and there was nothing new, because a quiet log needs no
// other. Where there has been none at all, it counts from the start.
func (e *engine) unproven() time.Duration {
	now, since := e.deps.Now(), e.opened
	if newest, any := e.checkpoints.Newest(); any {
		if !newest.Grown(e.trees.Heads()) {
			e.proved.Store(&now)
			return 0
		}
		since = newest.Time
	}
	if proved := e.proved.Load(); proved != nil && proved.After(since) {
		since = *proved
	}
	return max(0, now.Sub(since))
}

// receipt proves that a record is on the log.
func (e *engine) receipt(ctx context.Context, at record.Position) (any, error) {
	return e.checkpoints.Receipt(ctx, at)
}

// initCheckpoints brings the key that signs checkpoints.
func (e *engine) initCheckpoints(ctx context.Context) error {
	id := uuid.NewString()
	key, err := checkpoints.NewKey(e.ring, id)
	if err != nil {
		return err
	}
	err = e.operate(ctx, id, registry.CheckpointInit, key)
	if fault.Is(err, fault.Conflict) { // another instance was first
		return nil
	}
	return err
}

// writePublic puts the public key where operators pin it. The key of a log never
// changes: a file with another one is from another log, and is not overwritten.
func writePublic(path string, key proof.Key) error {
	text, err := os.ReadFile(path)
	switch {
	case err == nil && trimNewline(text) == key.Public:
		return nil
	case err == nil:
		return errors.New(path + " holds another key; if the log was replaced on purpose, remove the file")
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	part := path + ".part"
	if err := os.WriteFile(part, []byte(key.Public+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// provenLog is the log as receipts read it: what has expired is gone.
type provenLog struct{ *kafka.Log }

func (l provenLog) ReadAt(ctx context.Context, at record.Position) (record.Record, error) {
	r, err := l.Log.ReadAt(ctx, at)
	var missing *kafka.RangeError
	if errors.As(err, &missing) && missing.Below() {
		return r, fault.New(fault.Gone, "The record has expired.").Because(err)
	}
	return r, err
}
