package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

const (
	// flushTimeout bounds how long a stop waits for the collector.
	flushTimeout = 5 * time.Second
	// complainEvery is how often at most a collector that fails is logged.
	complainEvery = 10 * time.Second
)

// batch is spans as they go over the wire.
type batch struct {
	spans []byte
	count int
}

// batches collects spans and hands them to a collector. Whoever ends a span never
// waits: what comes while too many wait is lost and counted.
type batches struct {
	Config
	client   otlptrace.Client
	resource *resourcepb.Resource
	log      *slog.Logger

	mu   sync.Mutex
	open batch
	full []batch
	held int // spans that wait or are being exported
	lost int // since complained
	// complained is when that was last said.
	complained time.Time

	ripe chan struct{} // a batch is full
	stop chan struct{}
	done chan struct{}
}

func newBatches(cfg Config, client otlptrace.Client, resource *resourcepb.Resource, log *slog.Logger) *batches {
	b := &batches{
		Config: cfg, client: client, resource: resource, log: log,
		ripe: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go b.run()
	return b
}

// add takes in a span, which it copies.
func (b *batches) add(span []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held >= b.QueueSize {
		b.lost++
		return
	}
	b.held++
	b.open.count++
	b.open.spans = appendBytes(b.open.spans, scopeSpansSpans, span)
	if b.open.count < b.BatchSize {
		return
	}
	room := len(b.open.spans)
	b.full = append(b.full, b.open)
	b.open = batch{spans: make([]byte, 0, room)}
	select {
	case b.ripe <- struct{}{}:
	default:
	}
}

// next takes what is to be exported next: a full batch, or any where all is wanted.
func (b *batches) next(all bool) (next batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.full) > 0:
		next, b.full = b.full[0], b.full[1:]
	case all:
		next, b.open = b.open, batch{}
	}
	return next
}

func (b *batches) run() {
	defer close(b.done)
	tick := time.NewTicker(b.Delay)
	defer tick.Stop()
	for {
		select {
		case <-b.ripe:
			b.export(context.Background(), false)
		case <-tick.C:
			b.export(context.Background(), true)
		case <-b.stop:
			b.flush()
			return
		}
	}
}

// flush is the last export.
func (b *batches) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	b.export(ctx, true)
	_ = b.client.Stop(ctx) // nothing is left to lose
}

// export hands over what is there, batch by batch.
func (b *batches) export(ctx context.Context, all bool) {
	for next := b.next(all); next.count > 0; next = b.next(all) {
		err := b.upload(ctx, next)
		b.mu.Lock()
		b.held -= next.count
		if err != nil {
			b.lost += next.count
		}
		b.mu.Unlock()
		b.complain(err)
	}
}

func (b *batches) upload(ctx context.Context, next batch) error {
	ctx, cancel := context.WithTimeout(ctx, b.Timeout)
	defer cancel()
	spans := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: serviceName}, SchemaUrl: semconv.SchemaURL}
	// The spans are in their final form. What a message does not know itself goes out
	// as it is.
	spans.ProtoReflect().SetUnknown(next.spans)
	return b.client.UploadTraces(ctx, []*tracepb.ResourceSpans{{
		Resource: b.resource, ScopeSpans: []*tracepb.ScopeSpans{spans}, SchemaUrl: semconv.SchemaURL,
	}})
}

// complain logs that spans were lost, but not each time. Without an error there
// were more than the collector took.
func (b *batches) complain(err error) {
	b.mu.Lock()
	lost := b.lost
	due := lost > 0 && time.Since(b.complained) >= complainEvery
	if due {
		b.lost, b.complained = 0, time.Now()
	}
	b.mu.Unlock()
	if due {
		b.log.Warn("Spans were lost", "count", lost, "error", err)
	}
}

// close exports what is there and returns when that is done.
func (b *batches) close() {
	close(b.stop)
	<-b.done
}
