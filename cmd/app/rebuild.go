package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/uuid"

	"hooklog/cmd/settings"
	"hooklog/domain/registry"
	"hooklog/projections/audit"
	"hooklog/projections/fold"
	views "hooklog/projections/registry"
	"hooklog/projections/results"
	"hooklog/projections/runs"
	"hooklog/projections/sessions"
	"hooklog/projections/store"
	"hooklog/projections/traces"
)

// Rebuild drops the projections and folds the log again. A log that has lost
// what was folded before is refused, unless that is accepted, on the record.
func Rebuild(ctx context.Context, cfg settings.Config, deps Deps, acceptTruncation bool) (err error) {
	if cfg.Embedded() && !hasLog(cfg) { // perhaps the wrong folder, which is left as it is
		return fmt.Errorf("%s holds no log", cfg.DataDir)
	}
	e, err := openBase(ctx, cfg, deps, newStatus(), acceptTruncation)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	losses, err := e.losses(ctx)
	if err != nil {
		return err
	}
	if len(losses) > 0 && !acceptTruncation {
		return losses[0]
	}
	if err := e.record(ctx, losses); err != nil {
		return fmt.Errorf("put the loss on the record: %w", err)
	}
	if err := os.RemoveAll(cfg.StateDir()); err != nil {
		return err
	}
	if err := e.fold(ctx); err != nil {
		return err
	}
	var folded int64
	for _, r := range e.runners() {
		n, _ := r.Folded()
		folded += n
	}
	_, err = fmt.Fprintf(deps.Out, "Folded %d records again into %s\n", folded, cfg.StateDir())
	return err
}

// losses holds what was folded against the log, and changes nothing. Projections
// that cannot be read cannot tell of a loss, and are no obstacle to making them
// anew.
func (e *engine) losses(ctx context.Context) ([]*fold.Stopped, error) {
	if _, err := os.Stat(e.cfg.StateDir()); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	rows, err := store.Open(e.cfg.StateDir(), nil, e.deps.Log)
	if err != nil {
		e.deps.Log.Warn("The old projections cannot be read", "error", err)
		return nil, nil
	}
	defer func() { _ = rows.Close() }() // it is dropped next
	accesses := audit.New(rows)
	commands, err := views.New(rows, accesses)
	if err != nil {
		e.deps.Log.Warn("The old projections cannot be read", "error", err)
		return nil, nil
	}
	found, err := traces.New(rows, e.cfg.TraceRetention, e.deps.Now)
	if err != nil {
		e.deps.Log.Warn("The old projections cannot be read", "error", err)
		return nil, nil
	}
	trees, err := openTrees(rows)
	if err != nil {
		e.deps.Log.Warn("The old projections cannot be read", "error", err)
		return nil, nil
	}
	var losses []*fold.Stopped
	for _, p := range []fold.Projection{
		commandViews(commands, trees), callViews(trees, results.New(rows), runs.New(rows), found), accessViews(accesses, trees), sessions.New(rows),
	} {
		err := fold.NewRunner(p, rows, e.source, e.deps.Log).Check(ctx)
		var stopped *fold.Stopped
		switch {
		case errors.As(err, &stopped) && stopped.Lost:
			losses = append(losses, stopped)
		case err != nil && (stopped == nil || !stopped.Stale):
			return nil, err
		}
	}
	return losses, nil
}

// record says on the log what it has lost. It does so before the projections
// are dropped, which are the only ones to know.
func (e *engine) record(ctx context.Context, losses []*fold.Stopped) error {
	var reasons []string
	if e.broker != nil {
		reasons = e.broker.Lost()
	}
	for _, loss := range losses {
		reasons = append(reasons, fmt.Sprintf("projection %s at %s: %s", loss.Projection, loss.At, loss.Reason))
	}
	if len(reasons) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	return e.say(ctx, uuid.NewString(), registry.LogAccept, registry.AcceptParams{Reason: strings.Join(reasons, "; ")})
}
