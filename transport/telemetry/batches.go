package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	// why is the last cause, complained when that was last said.
	why        error
	complained time.Time

	ripe chan struct{} // a batch is full
	stop chan struct{}
	done chan struct{}
	// giveUp ends the exports.
	giveUp context.CancelFunc
}

var errTooMany = errors.New("there were more than the collector took")

func newBatches(cfg Config, client otlptrace.Client, resource *resourcepb.Resource, log *slog.Logger) *batches {
	ctx, cancel := context.WithCancel(context.Background())
	b := &batches{
		Config: cfg, client: client, resource: resource, log: log,
		ripe: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), giveUp: cancel,
	}
	go b.run(ctx)
	return b
}

// add takes in a span, which it copies.
func (b *batches) add(span []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held >= b.QueueSize {
		b.lost++
		if b.why == nil {
			b.why = errTooMany
		}
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

// nextFull takes the full batch that has waited longest.
func (b *batches) nextFull() (next batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.full) > 0 {
		next = b.full[0]
		b.full = slices.Delete(b.full, 0, 1) // which forgets it, too
	}
	return next
}

func (b *batches) takeOpen() (open batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	open, b.open = b.open, batch{}
	return open
}

func (b *batches) run(ctx context.Context) {
	defer close(b.done)
	tick := time.NewTicker(b.Delay)
	defer tick.Stop()
	for {
		select {
		case <-b.ripe:
			b.exportFull(ctx)
		case <-tick.C:
			b.exportAll(ctx)
			b.complain(complainEvery)
		case <-b.stop:
			b.exportAll(ctx)
			b.complain(0)
			_ = b.client.Stop(ctx) // nothing is left to lose
			return
		}
	}
}

func (b *batches) exportFull(ctx context.Context) {
	for next := b.nextFull(); next.count > 0; next = b.nextFull() {
		b.export(ctx, next)
	}
}

// exportAll exports also what is no full batch, but that once: what comes
// meanwhile waits for others, or each would be a batch of its own.
func (b *batches) exportAll(ctx context.Context) {
	b.exportFull(ctx)
	if open := b.takeOpen(); open.count > 0 {
		b.export(ctx, open)
	}
}

func (b *batches) export(ctx context.Context, next batch) {
	err := b.upload(ctx, next)
	b.mu.Lock()
	b.held -= next.count
	if err != nil {
		b.lost += next.count
		b.why = err
	}
	b.mu.Unlock()
	b.complain(complainEvery)
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

// complain logs that spans were lost, unless it did so a short while ago.
func (b *batches) complain(while time.Duration) {
	b.mu.Lock()
	lost, why := b.lost, b.why
	due := lost > 0 && time.Since(b.complained) >= while
	if due {
		b.lost, b.why, b.complained = 0, nil, time.Now()
	}
	b.mu.Unlock()
	if due {
		// Cut, because it quotes the answer, which may be somebody else's page.
		b.log.Warn("Spans were lost", "count", lost, "error", fmt.Sprintf("%.500s", why.Error()))
	}
}

// close exports what is there and returns when that is done. What the collector
// has not taken by then is lost, also where it hangs in the middle of an export.
func (b *batches) close() {
	close(b.stop)
	late := time.AfterFunc(flushTimeout, b.giveUp)
	defer late.Stop()
	<-b.done
	b.giveUp()
}
