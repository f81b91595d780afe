package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/catalog"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/results"
	"hooklog/projections/runs"
	"hooklog/projections/store"
	"hooklog/projections/traces"
	"hooklog/transport/commands"
)

const (
	// tracedWebhooks are called; askedWebhooks of them are asked for and have the
	// same number of calls each, however many the others have.
	tracedWebhooks = 1000
	askedWebhooks  = 50
	callsOfAsked   = 100
	// tracedDays is how many days the calls are spread over.
	tracedDays = 20
	newest     = 50
	// tracesTarget is what finding the newest calls should take at most, at p99.
	tracesTarget = 20 * time.Millisecond
)

// benchTraces measures trace.get over calls that are folded into a real store,
// without HTTP: the newest calls of one webhook among more and more of others. The
// first look at each webhook is among the samples, so the p99 is one that reads
// from disk.
func benchTraces(ctx context.Context, p plan) error {
	title("trace.get last6=… of the newest %d calls, %d webhooks", newest, tracedWebhooks)
	fmt.Println("       calls    fold ns/call    p50 ms    p99 ms   beside the fewest (p50, p99)")
	var fewest [2]time.Duration
	for _, calls := range p.traced {
		world, took, err := p.foldedCalls(ctx, calls)
		if err != nil {
			return err
		}
		samples, err := world.ask(ctx)
		if err != nil {
			return err
		}
		if err := world.store.Close(); err != nil {
			return err
		}
		p50, p99 := samples[len(samples)/2], samples[len(samples)*99/100]
		if fewest[0] == 0 {
			fewest = [2]time.Duration{p50, p99}
		}
		note := ""
		if p99 > tracesTarget {
			note = "   over the target of " + tracesTarget.String()
		}
		fmt.Printf("  %10d  %14d  %8.3f  %8.3f   × %.2f, × %.2f%s\n", calls, took.Nanoseconds()/int64(calls),
			microseconds(p50)/1000, microseconds(p99)/1000,
			float64(p50)/float64(fewest[0]), float64(p99)/float64(fewest[1]), note)
	}
	return nil
}

// tracesWorld is the least that trace.get works with.
type tracesWorld struct {
	commands.Registry
	store  *store.Store
	traces *traces.Traces
	runs   *runs.Runs
}

// foldedCalls folds so many calls into a store on disk, and tells what that took.
func (p plan) foldedCalls(ctx context.Context, calls int) (w *tracesWorld, took time.Duration, err error) {
	dir, err := p.fresh()
	if err != nil {
		return nil, 0, err
	}
	w = &tracesWorld{}
	if w.store, err = store.Open(dir, nil, slog.New(slog.DiscardHandler)); err != nil {
		return nil, 0, err
	}
	if w.traces, err = traces.New(w.store, 0, time.Now); err != nil {
		return nil, 0, err
	}
	w.runs = runs.New(w.store)
	views := fold.Decoding("calls", record.TopicCall, call.Decode, results.New(w.store), w.runs, w.traces)
	const batch = 4096
	for from := 0; from < calls; from += batch {
		records := make([]record.Record, 0, batch)
		for n := from; n < min(from+batch, calls); n++ {
			r, err := tracedCall(n, calls)
			if err != nil {
				return nil, 0, err
			}
			records = append(records, r)
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		began := time.Now()
		if err := foldBatch(w.store, views, records); err != nil {
			return nil, 0, err
		}
		took += time.Since(began)
	}
	return w, took, nil
}

func foldBatch(s *store.Store, p fold.Projection, records []record.Record) error {
	b := &fold.Batch{Batch: s.NewBatch()}
	defer func() { _ = b.Close() }()
	committed, err := p.Fold(b, records)
	if err != nil {
		return err
	}
	if err := b.Commit(); err != nil {
		return err
	}
	committed()
	return nil
}

// tracedCall is the n-th of so many calls.
func tracedCall(n, of int) (record.Record, error) {
	hook := askedWebhooks + n%(tracedWebhooks-askedWebhooks)
	if every := of / (askedWebhooks * callsOfAsked); n%every == 0 {
		hook = n / every % askedWebhooks
	}
	received := time.UnixMilli(1_770_000_000_000).UTC().Add(time.Duration(n) * tracedDays * 24 * time.Hour / time.Duration(of))
	key := fmt.Sprintf("webhook.bench.h%d", hook)
	id := fmt.Sprintf("%08x-%04x-4%03x-8000-%012x", uint32(n)*2654435761, n&0xffff, n&0xfff, n)
	r, err := call.Accepted{
		CorrelationID: id, TraceID: last6Of(hook) + fmt.Sprintf(":%010d", n), EventKey: key, Last6: last6Of(hook),
		Received: received, Method: "POST", Size: 512, Address: "127.0.0.1",
		Event: call.EventAt(record.Position{Topic: record.EventTopic(key), Offset: int64(n)}, record.Digest{byte(n)}),
	}.Encode(0)
	r.Offset, r.Time = int64(n), received.Add(time.Millisecond)
	return r, err
}

func last6Of(hook int) string { return fmt.Sprintf("%06x", hook*16411) }

// ask runs trace.get for the webhooks in a random order, and gives how long each
// answer took, in order.
func (w *tracesWorld) ask(ctx context.Context) ([]time.Duration, error) {
	d := commands.New(commands.Config{Timeout: time.Minute, ResultDeadline: time.Hour}, commands.Deps{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Journal: w, Registry: w,
		Runs: foldedRuns{w.runs}, Traces: foldedTraces{w.traces}, AccessPartitions: func() int32 { return 1 },
	})
	command, _ := catalog.Lookup(catalog.TraceGet)
	admin := commands.Caller{Principal: "admin", Roles: []string{access.RoleAdministrator}}
	const rounds = 20
	var samples []time.Duration
	for range rounds {
		for _, hook := range rand.Perm(askedWebhooks) { //nolint:gosec // an order is no secret
			began := time.Now()
			args, err := command.Bind([]catalog.Given{{Name: "last6", Value: last6Of(hook)}, {Name: "limit", Value: fmt.Sprint(newest)}})
			if err != nil {
				return nil, err
			}
			answer, err := d.Run(ctx, commands.Request{Caller: admin, Command: command, Args: args})
			if err != nil {
				return nil, err
			}
			if _, err := json.Marshal(answer); err != nil {
				return nil, err
			}
			samples = append(samples, time.Since(began))
			if n := len(answer.(commands.Page[commands.Trace]).Items); n != newest {
				return nil, fmt.Errorf("%d calls were found, not %d", n, newest)
			}
		}
	}
	slices.Sort(samples)
	return samples, nil
}

// Policy implements commands.Registry.
func (*tracesWorld) Policy() access.Policy { return nil }

// AppendWait implements commands.Journal.
func (*tracesWorld) AppendWait(context.Context, *record.Record) (record.Position, error) {
	return record.Position{}, nil
}

// Append implements commands.Journal.
func (*tracesWorld) Append(_ *record.Record, done func(record.Position, error)) {
	done(record.Position{}, nil)
}

// foldedRuns and foldedTraces are the views without a log that could go on.
type foldedRuns struct{ *runs.Runs }

func (foldedRuns) Current(context.Context) error { return nil }

func (foldedRuns) Wait(context.Context, record.Position) error { return nil }

type foldedTraces struct{ *traces.Traces }

func (foldedTraces) Current(context.Context) error { return nil }
