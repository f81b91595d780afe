// Package telemetry makes the spans of the service: one trace for each call, from
// the request over the records to the steps of its pipelines. Every place in a
// trace is a Span, also where nothing is recorded: then it is the W3C context
// alone, so that records can be followed whether or not anybody exports.
//
// Receiving is the hot path, so a span is a few bytes that are written once, in
// the form in which they go to a collector: with spans of the SDK, a traced call
// took nearly twice the processor time of another. Exporting is left to the
// exporters of OpenTelemetry. The package has no middleware and no globals, and never sees a token, a correlation id, a query or
// a body. The other rooms of transport may import it.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

const serviceName = "hooklog"

// Config are the values of a tracer.
type Config struct {
	// Share is the part of the traces that are recorded, from 0 to 1. A trace that
	// another process began is recorded if that one says so, unless Alone: then the
	// share decides there as well.
	Share float64
	Alone bool
	// QueueSize is how many spans may wait, BatchSize how many are exported at once.
	QueueSize, BatchSize int
	// Delay is how long a span waits for others at most, Timeout how long an export
	// may take.
	Delay, Timeout time.Duration
}

// Tracer makes spans. A nil Tracer records none: that is what tracing is when it
// is off.
type Tracer struct {
	share   float64
	alone   bool
	batches *batches
	close   sync.Once
}

// New makes a tracer that exports by the client, which is started.
func New(cfg Config, client otlptrace.Client, instance *resourcepb.Resource, log *slog.Logger) *Tracer {
	return &Tracer{share: cfg.Share, alone: cfg.Alone, batches: newBatches(cfg, client, instance, log)}
}

// Open makes the tracer that the OTEL_* variables ask for; it is nil where they
// name no endpoint to export to, or switch tracing off. The error names every
// variable that cannot be used.
func Open(ctx context.Context, instance string, log *slog.Logger) (*Tracer, error) {
	on, err := exporting()
	if err != nil || !on {
		return nil, err
	}
	described, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName(serviceName), semconv.ServiceInstanceID(instance)),
		resource.WithFromEnv(), // behind ours, so that it counts
	)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	client := newClient()
	if err := client.Start(ctx); err != nil {
		return nil, fmt.Errorf("export of spans: %w", err)
	}
	return New(config(), client, wireResource(described), log), nil
}

func newClient() otlptrace.Client {
	if protocol() == protocolGRPC {
		return otlptracegrpc.NewClient()
	}
	return otlptracehttp.NewClient()
}

func wireResource(r *resource.Resource) *resourcepb.Resource {
	var wire resourcepb.Resource
	for _, a := range r.Attributes() { // all of them are texts
		wire.Attributes = append(wire.Attributes, &commonpb.KeyValue{
			Key: string(a.Key), Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: a.Value.AsString()}},
		})
	}
	return &wire
}

// Close exports what has ended, for a few seconds at most. That a collector is
// away is no failure of the service.
func (t *Tracer) Close() {
	if t != nil {
		t.close.Do(t.batches.close)
	}
}
