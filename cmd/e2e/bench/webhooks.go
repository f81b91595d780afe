package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// benchWebhooks compares a service that has many webhooks with one that has few.
// The same number of webhooks is called in both.
func benchWebhooks(ctx context.Context, p plan) (err error) {
	title("Webhook calls with %d and with %d registered webhooks, of which %d are called; sync off, 64 connections", few, p.webhooks, few)
	var (
		sides   []side
		running []*server
	)
	defer func() {
		for _, s := range running {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, n := range []int{few, p.webhooks} {
		s, calls, err := p.withWebhooks(ctx, n)
		if err != nil {
			return err
		}
		running = append(running, s)
		sides = append(sides, side{fmt.Sprintf("%d webhooks", n), func(ctx context.Context) (sample, error) {
			return s.under(ctx, p.load(64, calls...))
		}})
	}
	samples, err := takeTurns(ctx, p.rounds, sides...)
	if err != nil {
		return err
	}
	table(sides, samples)
	compared("many webhooks beside few", samples, webhooksTarget)
	return nil
}

// withWebhooks starts a service with n webhooks, and gives calls of a few.
func (p plan) withWebhooks(ctx context.Context, n int) (*server, [][]byte, error) {
	dir, err := p.fresh()
	if err != nil {
		return nil, nil, err
	}
	s, err := startHooklog(ctx, hooklogConfig{Log: logAt{Dir: dir}})
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	calls := make([][]byte, n)
	create := func(ctx context.Context, i int) error {
		token, err := s.put(ctx, fmt.Sprintf("webhook.bench.number-%d", i))
		calls[i] = receiveRequest(s.Address, token)
		return err
	}
	err = create(ctx, 0) // alone, because so many at once may not log in
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := 1; i < n && err == nil; i++ {
		group.Go(func() error { return create(within, i) })
	}
	if err := errors.Join(err, group.Wait()); err != nil {
		return nil, nil, errors.Join(err, s.stop())
	}
	fmt.Printf("  %d webhooks were created in %s by 16 clients, each with its topic\n", n, time.Since(began).Round(time.Millisecond))
	return s, calls[:few], nil
}
