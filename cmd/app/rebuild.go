package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"

	"hooklog/cmd/settings"
	"hooklog/domain/registry"
	"hooklog/projections/fold"
	views "hooklog/projections/registry"
	"hooklog/projections/results"
	"hooklog/projections/store"
)

// Rebuild drops the projections and folds the log again. A log that has lost
// what was folded before is refused, unless that is accepted, on the record.
func Rebuild(ctx context.Context, cfg settings.Config, deps Deps, acceptTruncation bool) (err error) {
	e, err := openBase(ctx, cfg, deps, newStatus())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	loss, err := e.loss(ctx)
	if err != nil {
		return err
	}
	if loss != nil && !acceptTruncation {
		return loss
	}
	if err := os.RemoveAll(cfg.StateDir()); err != nil {
		return err
	}
	if err := e.fold(ctx); err != nil {
		return err
	}
	if loss != nil {
		if err := e.operate(ctx, uuid.NewString(), registry.LogAccept, registry.AcceptParams{Reason: loss.Error()}); err != nil {
			return fmt.Errorf("put the loss on the record: %w", err)
		}
	}
	var folded int64
	for _, r := range e.runners() {
		n, _ := r.Folded()
		folded += n
	}
	_, err = fmt.Fprintf(deps.Out, "Folded %d records again into %s\n", folded, cfg.StateDir())
	return err
}

// loss holds what was folded against the log. Projections that cannot be read
// cannot tell of a loss, and are no obstacle to making them anew.
func (e *engine) loss(ctx context.Context) (*fold.Stopped, error) {
	if _, err := os.Stat(e.cfg.StateDir()); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	rows, err := store.Open(e.cfg.StateDir(), nil, e.deps.Log)
	if err != nil {
		e.deps.Log.Warn("The old projections cannot be read", "error", err)
		return nil, nil
	}
	defer func() { _ = rows.Close() }() // it is dropped next
	commands, err := views.New(rows)
	if err != nil {
		e.deps.Log.Warn("The old projections cannot be read", "error", err)
		return nil, nil
	}
	for _, p := range []fold.Projection{commands, results.New(rows)} {
		err := fold.NewRunner(p, rows, e.source, e.deps.Log).Check(ctx)
		var stopped *fold.Stopped
		switch {
		case errors.As(err, &stopped) && stopped.Lost:
			return stopped, nil
		case err != nil && stopped == nil:
			return nil, err
		}
	}
	return nil, nil
}
