package projectiontest

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

// patience bounds the waits of a test that would otherwise hang.
const patience = 30 * time.Second

var errOver = errors.New("the test is over")

// OpenStore opens a store on a file system in memory; it is closed at the end of
// the test.
func OpenStore(t testing.TB) *store.Store {
	t.Helper()
	s := open(t, vfs.NewMem())
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func open(t testing.TB, fs vfs.FS) *store.Store {
	t.Helper()
	s, err := store.Open("state", fs, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Dump is the text of all rows in order.
func Dump(t testing.TB, s *store.Store) string {
	t.Helper()
	var text strings.Builder
	if err := s.Dump(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// Start folds the log into the projection until the end of the test. The test
// fails when the fold ends before.
func Start(t testing.TB, p fold.Projection, s *store.Store, log fold.Source) *fold.Runner {
	t.Helper()
	f := start(t, p, s, log)
	t.Cleanup(f.end)
	return f.Runner
}

// folding is a runner that runs.
type folding struct {
	*fold.Runner
	t      testing.TB
	cancel context.CancelCauseFunc
	ended  chan error
}

func start(t testing.TB, p fold.Projection, s *store.Store, log fold.Source) *folding {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	f := &folding{
		Runner: fold.NewRunner(p, s, log, slog.New(slog.DiscardHandler)),
		t:      t,
		cancel: cancel,
		ended:  make(chan error, 1),
	}
	go func() { f.ended <- f.Run(ctx) }()
	return f
}

// catchUp returns when the fold has reached the end that the log had at its start.
func (f *folding) catchUp() {
	f.t.Helper()
	select {
	case <-f.Running():
	case err := <-f.ended:
		f.t.Fatalf("the fold ended: %v", err)
	case <-time.After(patience):
		f.t.Fatal("the fold does not reach the end of the log")
	}
}

// reach returns when the record has been folded.
func (f *folding) reach(at record.Position) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	if err := f.Wait(ctx, at); err != nil {
		f.t.Fatalf("wait for %s: %v", at, err)
	}
}

// stopped gives the reason for which the fold stops by itself.
func (f *folding) stopped() *fold.Stopped {
	f.t.Helper()
	select {
	case err := <-f.ended:
		var stopped *fold.Stopped
		if !errors.As(err, &stopped) {
			f.t.Fatalf("the fold ended with %v, which is no reason to stop", err)
		}
		return stopped
	case <-time.After(patience):
		f.t.Fatal("the fold does not stop")
		return nil
	}
}

// end ends a fold that runs.
func (f *folding) end() {
	f.t.Helper()
	f.cancel(errOver)
	if err := <-f.ended; !errors.Is(err, errOver) {
		f.t.Errorf("the fold had ended: %v", err)
	}
}
