package fold_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
)

// burst is how many looks may follow each other at once.
const burst = 10

// lookout is a log that counts the looks at its end; each waits for its answer.
type lookout struct {
	*projectiontest.Log
	looks  atomic.Int64
	answer func(ctx context.Context) error
}

func (l *lookout) Bounds(ctx context.Context, topic string) ([]record.Bounds, error) {
	l.looks.Add(1)
	if l.answer != nil {
		if err := l.answer(ctx); err != nil {
			return nil, err
		}
	}
	return l.Log.Bounds(ctx, topic)
}

// watched is a runner over an empty log, for which every look is the end.
func watched(answer func(context.Context) error) (*lookout, *fold.Runner) {
	l := &lookout{Log: projectiontest.NewLog(topic, 2), answer: answer}
	return l, fold.NewRunner(newWords(nil), nil, l, quiet)
}

func TestCurrentReturnsWhenAllThatWasOnTheLogIsFolded(t *testing.T) {
	w, log, r := start(t, 3)
	for n := range 30 {
		log.Append(word(int32(n%3), "k", "x"))
		log.Append(word(int32(n%3), "last", "x"))
		if err := r.Current(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(w.row(t, "last")); got == 0 {
			t.Fatalf("after record %d the row is missing", n)
		}
	}
	if done, _ := r.Folded(); done != 60 {
		t.Errorf("%d records are folded, want 60", done)
	}
}

func TestConcurrentCallersShareALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, r := watched(nil)
		for range burst { // so that the next look has to wait and can be joined
			if err := r.Current(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		before := l.looks.Load()
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				if err := r.Current(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if looks := l.looks.Load() - before; looks != 1 {
			t.Errorf("100 callers took %d looks", looks)
		}
	})
}

func TestACallerDoesNotJoinALookThatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		l, r := watched(func(context.Context) error { <-answer; return nil })
		ended := make(chan error, 3)
		call := func() {
			go func() { ended <- r.Current(t.Context()) }()
			synctest.Wait()
		}
		call()
		if looks := l.looks.Load(); looks != 1 {
			t.Fatalf("the first caller began %d looks", looks)
		}
		call()
		if looks := l.looks.Load(); looks != 2 {
			t.Errorf("%d looks have begun, want 2: the first may have missed what came before the second call", looks)
		}
		close(answer)
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestLooksAreBoundedByARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r := watched(nil)
		begin := time.Now()
		for range 3 * burst {
			if err := r.Current(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begin); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("30 looks took %s; at 10 a second, the first 10 at once, they take 2 s", took)
		}
	})
}

func TestCurrentIsUnavailable(t *testing.T) {
	broken := errors.New("no broker")
	tests := []struct {
		name   string
		answer func(context.Context) error
		record bool
		cause  error
		after  time.Duration
	}{
		{name: "when the log does not answer", answer: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, cause: context.DeadlineExceeded, after: 5 * time.Second},
		{name: "when the log fails", answer: func(context.Context) error { return broken }, cause: broken},
		{name: "when the fold does not reach the end", record: true, cause: context.DeadlineExceeded, after: 5 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, r := watched(tt.answer)
				if tt.record {
					l.Append(word(1, "a", "1")) // and nobody folds it
				}
				begin := time.Now()
				err := r.Current(t.Context())
				if !fault.Is(err, fault.Unavailable) || !errors.Is(err, tt.cause) || time.Since(begin) != tt.after {
					t.Errorf("%v after %s, want unavailable because of %v after %s", err, time.Since(begin), tt.cause, tt.after)
				}
			})
		})
	}
}

func TestACallerWhoGivesUpLeavesTheLookToTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		l, r := watched(func(context.Context) error { <-answer; return nil })
		for range burst {
			go func() { _ = r.Current(t.Context()) }()
			synctest.Wait()
		}
		ctx, giveUp := context.WithCancelCause(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- r.Current(ctx) }()
		synctest.Wait() // the look waits for its turn
		go func() { second <- r.Current(t.Context()) }()
		gone := errors.New("the caller went away")
		giveUp(gone)
		if err := <-first; !errors.Is(err, gone) {
			t.Errorf("the caller who gave up got %v, not the cause", err)
		}
		close(answer)
		if err := <-second; err != nil {
			t.Errorf("the other caller got %v", err)
		}
		if looks := l.looks.Load(); looks != burst+1 {
			t.Errorf("%d looks, want %d: both share the last", looks, burst+1)
		}
	})
}
