package fold_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/store"
)

func start(t *testing.T, partitions int) (*words, *projectiontest.Log, *fold.Runner) {
	t.Helper()
	w, log := newWords(projectiontest.OpenStore(t)), projectiontest.NewLog(topic, partitions)
	return w, log, projectiontest.Start(t, w, w.store, log)
}

func TestWaitReturnsWhenTheRecordIsFolded(t *testing.T) {
	w, log, r := start(t, 2)
	for n := range 50 {
		at := log.Append(word(int32(n%2), strconv.Itoa(n), "x"))
		if err := r.Wait(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if got := w.row(t, strconv.Itoa(n)); got != " x" {
			t.Fatalf("the row of %s is %q when Wait returns", at, got)
		}
	}
	if err := r.Wait(t.Context(), record.Position{Topic: topic, Partition: 1, Offset: 0}); err != nil {
		t.Errorf("what was folded long ago is waited for: %v", err)
	}
}

func TestAPacedFoldLetsRecordsCollect(t *testing.T) {
	w, log := newWords(projectiontest.OpenStore(t)), projectiontest.NewLog(topic, 1)
	var last record.Position
	for n := range 4 {
		last = log.Append(word(0, strconv.Itoa(n), "x"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := fold.NewRunner(w, w.store, log, quiet).Paced(time.Hour)
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	if err := r.Wait(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := r.Wait(short, log.Append(word(0, "later", "x"))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a record that came right after many is folded at once: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the fold ended with %v", err)
	}
}

func TestWaitEndsWithTheCauseOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := fold.NewRunner(newWords(nil), nil, projectiontest.NewLog(topic, 1), quiet) // does not run
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Wait(ctx, record.Position{Topic: topic}) }()
		synctest.Wait()
		if len(ended) > 0 {
			t.Fatalf("Wait returned %v although nothing is folded", <-ended)
		}
		tired := errors.New("tired of waiting")
		cancel(tired)
		if err := <-ended; !errors.Is(err, tired) {
			t.Errorf("Wait ended with %v, not with the cause", err)
		}
	})
}

func TestPartitionsAreWaitedForByThemselves(t *testing.T) {
	_, log, r := start(t, 2)
	if err := r.Wait(t.Context(), log.Append(word(0, "a", "1"), word(0, "a", "2"))); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, at := range []record.Position{{Partition: 0, Offset: 2}, {Partition: 1, Offset: 0}, {Partition: 7, Offset: 0}} {
		if err := r.Wait(ctx, at); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait for %s, where no record is, gives %v", at, err)
		}
	}
	if err := r.Wait(ctx, record.Position{Partition: 0, Offset: 1}); err != nil {
		t.Errorf("Wait for what is folded gives %v", err)
	}
}

func TestARunnerRunsOnceItHasReachedTheEndOfItsStart(t *testing.T) {
	w, log := newWords(projectiontest.OpenStore(t)), projectiontest.NewLog(topic, 3)
	for n := range 30 {
		log.Append(word(int32(n%2), "k", strconv.Itoa(n)))
	}
	gate := &gated{Log: log, asked: make(chan struct{}, 3), open: make(chan struct{})}
	r := projectiontest.Start(t, w, w.store, gate)
	if r.Name() != "words" {
		t.Errorf("the runner's name is %q", r.Name())
	}
	select {
	case <-r.Running():
		t.Fatal("the runner runs and has read nothing")
	case <-gate.asked:
	}
	if done, of := r.Folded(); done != 0 || of != 30 {
		t.Errorf("%d of %d are folded, want 0 of 30", done, of)
	}
	close(gate.open)
	<-r.Running()
	if done, of := r.Folded(); done != 30 || of != 30 {
		t.Errorf("%d of %d are folded, want 30 of 30", done, of)
	}
}

// gated is a log whose tails give nothing before it is open.
type gated struct {
	*projectiontest.Log
	asked, open chan struct{}
}

func (g *gated) Tail(ctx context.Context, from record.Position) (fold.Tail, error) {
	tail, err := g.Log.Tail(ctx, from)
	return gatedTail{tail, g}, err
}

type gatedTail struct {
	fold.Tail
	*gated
}

func (g gatedTail) Next(ctx context.Context) ([]record.Record, error) {
	select {
	case g.asked <- struct{}{}:
	default:
	}
	select {
	case <-g.open:
		return g.Tail.Next(ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func TestAnEmptyLogRunsAtOnce(t *testing.T) {
	_, _, r := start(t, 2)
	<-r.Running()
}

func TestARebuildCommitsAsItGoes(t *testing.T) {
	w, log := newWords(projectiontest.OpenStore(t)), projectiontest.NewLog(topic, 1)
	const n = 5_000
	for i := range n {
		log.Append(word(0, "k"+strconv.Itoa(i), "x"))
	}
	r := projectiontest.Start(t, w, w.store, log)
	<-r.Running()
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := 0
	for _, b := range w.batches {
		sum += b
	}
	if sum != n || slices.Max(w.batches) > 4096 {
		t.Errorf("%d records were folded in batches of %v", sum, w.batches)
	}
}

func TestAProjectionThatFailsEndsTheFoldAndCommitsNothing(t *testing.T) {
	w, log := newWords(projectiontest.OpenStore(t)), projectiontest.NewLog(topic, 1)
	w.fails = errors.New("disk full")
	at := log.Append(word(0, "a", "1"))
	r := fold.NewRunner(w, w.store, log, quiet)
	if err := r.Run(t.Context()); !errors.Is(err, w.fails) || !strings.Contains(err.Error(), at.String()) {
		t.Errorf("the fold ended with %v, want the failure and its place", err)
	}
	if dump := projectiontest.Dump(t, w.store); dump != "" {
		t.Errorf("rows were committed:\n%s", dump)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Wait(ctx, at); err == nil {
		t.Error("the record counts as folded")
	}
}

func TestOnePartitionThatStopsEndsAll(t *testing.T) {
	w, log := newWords(projectiontest.OpenStore(t)), projectiontest.NewLog(topic, 3)
	newer := word(1, "a", "1")
	newer.Headers = append(newer.Headers, record.Header{Key: record.HeaderMinReader, Value: []byte("99")})
	at := log.Append(newer)
	err := fold.NewRunner(w, w.store, log, quiet).Run(t.Context())
	var stopped *fold.Stopped
	if !errors.As(err, &stopped) || stopped.At != at || stopped.Projection != "words" {
		t.Fatalf("the fold ended with %v", err)
	}
	for _, part := range []string{"words", at.String(), stopped.Reason, stopped.Hint} {
		if part == "" || !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not tell %q", err, part)
		}
	}
}

func TestARecordOfThisReaderLevelIsFolded(t *testing.T) {
	w, log, r := start(t, 1)
	current := word(0, "a", "1")
	current.Headers = append(current.Headers, record.Header{Key: record.HeaderMinReader, Value: []byte(strconv.Itoa(record.ReaderLevel))})
	if err := r.Wait(t.Context(), log.Append(current)); err != nil {
		t.Fatal(err)
	}
	if got := w.row(t, "a"); got != " 1" {
		t.Errorf("the row is %q", got)
	}
}

func TestParkedRecordsAreLoggedWithoutTheirContent(t *testing.T) {
	w, log := newWords(projectiontest.OpenStore(t)), projectiontest.NewLog(topic, 1)
	bad := word(0, "secret key", "secret value")
	bad.Headers = nil
	at := log.Append(bad, word(0, "a", "{"))
	var lines bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	r := fold.NewRunner(w, w.store, log, slog.New(slog.NewTextHandler(&lines, nil)))
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()
	if err := r.Wait(ctx, at); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-ended
	if r.Parked() != 2 || !strings.Contains(lines.String(), "count=2") || strings.Contains(lines.String(), "secret") {
		t.Errorf("%d parked, logged as %s", r.Parked(), lines.String())
	}
}

func TestALogThatCannotBeReadEndsTheFold(t *testing.T) {
	broken := errors.New("no broker")
	for _, call := range []string{"Describe", "ReadAt", "Tail", "Next"} {
		t.Run("in "+call, func(t *testing.T) {
			w, log := newWords(projectiontest.OpenStore(t)), projectiontest.NewLog(topic, 1)
			log.Append(word(0, "a", "1"))
			foldAll(t, w, log)
			before := projectiontest.Dump(t, w.store)
			err := fold.NewRunner(w, w.store, failing{log, call, broken}, quiet).Run(t.Context())
			if !errors.Is(err, broken) || !strings.Contains(err.Error(), "words") {
				t.Errorf("the fold ended with %v", err)
			}
			var stopped *fold.Stopped
			if errors.As(err, &stopped) {
				t.Errorf("a log that is away for a moment stops the fold for good: %v", err)
			}
			if after := projectiontest.Dump(t, w.store); after != before {
				t.Errorf("the rows became\n%s", after)
			}
		})
	}
}

func TestAnUnreadableCheckpointEndsTheFold(t *testing.T) {
	w, log := newWords(projectiontest.OpenStore(t)), projectiontest.NewLog(topic, 1)
	log.Append(word(0, "a", "1"))
	foldAll(t, w, log)
	var key []byte
	err := w.store.Scan(store.Key("checkpoint", ""), nil, func(k, _ []byte) bool {
		key = bytes.Clone(k)
		return false
	})
	if err != nil || key == nil {
		t.Fatalf("there is no checkpoint: %v", err)
	}
	b := w.store.NewBatch()
	if err := errors.Join(b.Set(key, []byte("{")), b.Commit(), b.Close()); err != nil {
		t.Fatal(err)
	}
	if err := fold.NewRunner(w, w.store, log, quiet).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "checkpoint") {
		t.Errorf("the fold ended with %v", err)
	}
}

// foldAll folds what is on the log.
func foldAll(t *testing.T, w *words, log fold.Source) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := fold.NewRunner(w, w.store, log, quiet)
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()
	<-r.Running()
	cancel()
	<-ended
}

var quiet = slog.New(slog.DiscardHandler)

// failing is a log that fails in one call.
type failing struct {
	*projectiontest.Log
	call string
	err  error
}

func (f failing) in(call string) error {
	if f.call == call {
		return fmt.Errorf("%s: %w", call, f.err)
	}
	return nil
}

func (f failing) Describe(ctx context.Context, topic string) (record.Topic, error) {
	if err := f.in("Describe"); err != nil {
		return record.Topic{}, err
	}
	return f.Log.Describe(ctx, topic)
}

func (f failing) ReadAt(ctx context.Context, at record.Position) (record.Record, error) {
	if err := f.in("ReadAt"); err != nil {
		return record.Record{}, err
	}
	return f.Log.ReadAt(ctx, at)
}

func (f failing) Tail(context.Context, record.Position) (fold.Tail, error) {
	return failingTail{f}, f.in("Tail")
}

type failingTail struct{ failing }

func (f failingTail) Next(context.Context) ([]record.Record, error) { return nil, f.in("Next") }
func (failingTail) Close()                                          {}
