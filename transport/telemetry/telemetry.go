// Package telemetry makes the spans of the service: one trace for each call, from
// the request over the records to the steps of its pipelines. Every place in a
// trace is a Span, also where nothing is recorded: then it is the W3C context
// alone, so that records can be followed whether or not anybody exports. It knows
// no collector but through OTLP, has no middleware, and never sees a token, a
// correlation id, a query or a body. The other rooms of transport may import it.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

const (
	serviceName = "hooklog"
	// queueSize holds the spans of a second of a busy instance; what comes beyond it
	// is dropped, never waited for. batchSize is what goes out at once. Both only
	// count where OTEL_BSP_* does not say otherwise.
	queueSize = 1 << 16
	batchSize = 1 << 12
	// flushTimeout bounds how long a stop waits for the collector.
	flushTimeout = 5 * time.Second
	// complainEvery is how often at most a collector that fails is logged.
	complainEvery = 10 * time.Second
)

// Tracer makes spans. A nil Tracer records none: that is what tracing is when it
// is off.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// New makes a tracer of a provider.
func New(provider *sdk.TracerProvider) *Tracer {
	return &Tracer{provider: provider, tracer: provider.Tracer(serviceName, trace.WithSchemaURL(semconv.SchemaURL))}
}

// Open makes the tracer that the OTEL_* variables ask for; it is nil where they
// name no endpoint to export to, or switch tracing off. The error names every
// variable that cannot be used.
func Open(ctx context.Context, instance string, log *slog.Logger) (*Tracer, error) {
	on, err := exporting()
	if err != nil || !on {
		return nil, err
	}
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName(serviceName), semconv.ServiceInstanceID(instance)),
		resource.WithFromEnv(), // behind ours, so that it counts
	)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	exporter, err := newExporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("export of spans: %w", err)
	}
	// The SDK knows no other place to tell its faults than a global one.
	otel.SetErrorHandler(complaints(log))
	return New(sdk.NewTracerProvider(sdk.WithResource(res), sdk.WithBatcher(exporter, batching()...))), nil
}

func newExporter(ctx context.Context) (sdk.SpanExporter, error) {
	if protocol() == protocolGRPC {
		return otlptracegrpc.New(ctx)
	}
	return otlptracehttp.New(ctx)
}

// batching is what the batches are unless the environment says it.
func batching() (options []sdk.BatchSpanProcessorOption) {
	if os.Getenv("OTEL_BSP_MAX_QUEUE_SIZE") != "" || os.Getenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE") != "" {
		return nil
	}
	return []sdk.BatchSpanProcessorOption{sdk.WithMaxQueueSize(queueSize), sdk.WithMaxExportBatchSize(batchSize)}
}

// complaints logs what the SDK has to say, but not each time.
func complaints(log *slog.Logger) otel.ErrorHandler {
	var next, unsaid atomic.Int64
	return otel.ErrorHandlerFunc(func(err error) {
		now, due := time.Now(), next.Load()
		if now.UnixNano() < due || !next.CompareAndSwap(due, now.Add(complainEvery).UnixNano()) {
			unsaid.Add(1)
			return
		}
		log.Warn("Spans were not exported", "error", err, "unsaid", unsaid.Swap(0))
	})
}

// Close exports what has ended, for a few seconds at most. That a collector is
// away is no failure of the service.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		otel.Handle(err)
	}
}
