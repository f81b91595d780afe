package fold_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/projections/fold"
)

func TestALease(t *testing.T) {
	answers := func(context.Context) error { return nil }
	fails := func(context.Context) error { return errors.New("no broker") }
	slow := func(context.Context) error { time.Sleep(fold.LeaseLife / 2); return nil }
	tests := []struct {
		name   string
		answer func(context.Context) error
		behind bool
		after  time.Duration
		valid  bool
	}{
		{name: "is valid when the fold has reached the end", answer: answers, valid: true},
		{name: "is valid until its life is over", answer: answers, after: fold.LeaseLife - 1, valid: true},
		{name: "is over after its life", answer: answers, after: fold.LeaseLife},
		{name: "is not given by a log that fails", answer: fails},
		{name: "is not given to a fold that is behind", answer: answers, behind: true},
		{name: "counts from the question and not from the answer", answer: slow, after: fold.LeaseLife/2 - 1, valid: true},
		{name: "is over a life after the question", answer: slow, after: fold.LeaseLife / 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, r := watched(tt.answer)
				if tt.behind {
					l.Append(word(0, "a", "1"))
				}
				lease := fold.NewLease(r)
				if lease.Valid() {
					t.Error("a lease that was never confirmed is valid")
				}
				lease.Renew(t.Context())
				time.Sleep(tt.after)
				if got := lease.Valid(); got != tt.valid {
					t.Errorf("valid %v, want %v", got, tt.valid)
				}
			})
		})
	}
}

func TestALeaseIsKeptWhileTheLogAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		_, r := watched(func(context.Context) error {
			if broken.Load() {
				return errors.New("no broker")
			}
			return nil
		})
		lease := fold.NewLease(r)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { lease.Run(ctx); close(ended) }()
		for range 20 {
			time.Sleep(fold.LeaseLife / 3)
			if !lease.Valid() {
				t.Fatal("the lease ran out although the log answers")
			}
		}
		broken.Store(true)
		time.Sleep(fold.LeaseLife)
		if lease.Valid() {
			t.Error("the lease outlives a log that fails")
		}
		broken.Store(false)
		time.Sleep(time.Second)
		if !lease.Valid() {
			t.Error("the lease does not come back with the log")
		}
		cancel()
		<-ended
	})
}
