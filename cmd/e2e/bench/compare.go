package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// sample is one side in one round.
type sample struct {
	rate     float64 // acknowledged calls a second
	p50, p99 time.Duration
	// cpu and clientCPU are the processor time of one call in the server and in
	// the load generator.
	cpu, clientCPU time.Duration
	peak           int64 // bytes
	acknowledged   int
}

// under puts a load on a server.
func (s *server) under(ctx context.Context, l load) (sample, error) {
	l.Address = s.Address
	generator, err := startChild(ctx, "load", l)
	if err != nil {
		return sample{}, err
	}
	if err := generator.hear(&loadBegun{}); err != nil {
		return sample{}, err
	}
	before, err := s.cpu()
	if err != nil {
		return sample{}, err
	}
	var done loadDone
	if err := generator.hear(&done); err != nil {
		return sample{}, err
	}
	after, err := s.cpu()
	if err != nil {
		return sample{}, err
	}
	if err := generator.stop(); err != nil {
		return sample{}, err
	}
	if done.Refused > 0 || done.Acknowledged == 0 {
		return sample{}, fmt.Errorf("%d calls were refused and %d acknowledged: %s", done.Refused, done.Acknowledged, done.Refusal)
	}
	peak, err := s.peak()
	return sample{
		rate:         float64(done.Acknowledged) / done.Elapsed.Seconds(),
		p50:          done.P50,
		p99:          done.P99,
		cpu:          (after - before) / time.Duration(done.Acknowledged),
		clientCPU:    done.CPU / time.Duration(done.Acknowledged),
		peak:         peak,
		acknowledged: done.Acknowledged,
	}, err
}

// side is one of those that are compared; run measures it once.
type side struct {
	name string
	run  func(context.Context) (sample, error)
}

// takeTurns measures every side in every round, and gives the samples of each.
func takeTurns(ctx context.Context, rounds int, sides ...side) ([][]sample, error) {
	samples := make([][]sample, len(sides))
	for range rounds {
		for i, s := range sides {
			one, err := s.run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			samples[i] = append(samples[i], one)
		}
	}
	return samples, nil
}

// middle is the median of something over samples.
func middle[S any, T cmp.Ordered](samples []S, of func(S) T) T {
	values := make([]T, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// ratio is the median of the rounds' ratios of something, because a round's two
// sides had the same neighbours.
func ratio(of, to []sample, what func(sample) float64) float64 {
	rounds := make([]float64, len(of))
	for i := range of {
		rounds[i] = what(of[i]) / what(to[i])
	}
	return middle(rounds, func(r float64) float64 { return r })
}

func rate(s sample) float64    { return s.rate }
func cpuTime(s sample) float64 { return float64(s.cpu) }
func latency(s sample) float64 { return float64(s.p50) }
