package telemetry

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"hooklog/domain/fault"
	"hooklog/domain/record"
)

// Call is what every span of a call says of it: what a call is found by. The
// zero value is for spans of no call.
type Call struct {
	TraceID, Last6, EventKey string
}

func (c *Call) attributes() []attribute.KeyValue {
	if c.TraceID == "" {
		return nil
	}
	return []attribute.KeyValue{
		attribute.String("webhook.trace_id", c.TraceID),
		attribute.String("webhook.last6", c.Last6),
		attribute.String("webhook.event_key", c.EventKey),
	}
}

// callOf is the call that a record's headers tell.
func callOf(r *record.Record) Call {
	c := Call{TraceID: r.Header(record.HeaderTraceID), EventKey: r.Header(record.HeaderEventKey)}
	c.Last6, _, _ = strings.Cut(c.TraceID, ":")
	return c
}

// Span is a place in a trace. Where the trace is not recorded it is nothing but
// that, and so are the places below it. It must be ended by one of its methods;
// the zero value begins a trace that nobody records.
type Span struct {
	record.TraceContext
	tracer *Tracer
	span   trace.Span // nil where it is not recorded, or is another process's
	call   []attribute.KeyValue
}

// newTrace begins a trace that nobody records.
func newTrace() (c record.TraceContext) {
	var random [len(c.TraceID) + len(c.SpanID)]byte
	_, _ = rand.Read(random[:]) // never fails
	copy(c.TraceID[:], random[:])
	copy(c.SpanID[:], random[len(c.TraceID):])
	return c
}

// At is a place that another process, or another span, has told of. The call is
// what the spans below it are of.
func (t *Tracer) At(place record.TraceContext, call Call) Span {
	s := Span{TraceContext: place}
	if t != nil && place.Sampled {
		s.tracer, s.call = t, call.attributes()
	}
	return s
}

// began is a span that the SDK may or may not record; its context counts in any
// case.
func (t *Tracer) began(span trace.Span, call []attribute.KeyValue) Span {
	c := span.SpanContext()
	s := Span{TraceContext: record.TraceContext{TraceID: c.TraceID(), SpanID: c.SpanID(), Sampled: c.IsSampled()}}
	if span.IsRecording() {
		s.tracer, s.span, s.call = t, span, call
	}
	return s
}

// recorded reports whether a span below this one would be: a trace is recorded as
// a whole, as its root was.
func (s *Span) recorded() bool { return s.tracer != nil && s.Sampled }

// same is the place itself, for a span that is not recorded.
func (s *Span) same() Span {
	if s.IsZero() {
		return Span{TraceContext: newTrace()}
	}
	return Span{TraceContext: s.TraceContext}
}

// below begins a span that is recorded.
func (s *Span) below(name string, kind trace.SpanKind, attributes []attribute.KeyValue, options ...trace.SpanStartOption) Span {
	ctx := context.Background()
	if s.span != nil {
		ctx = trace.ContextWithSpan(ctx, s.span)
	} else {
		ctx = trace.ContextWithRemoteSpanContext(ctx, otelContext(s.TraceContext))
	}
	options = append(options, trace.WithSpanKind(kind), trace.WithAttributes(s.call...), trace.WithAttributes(attributes...))
	_, span := s.tracer.tracer.Start(ctx, name, options...)
	return s.tracer.began(span, s.call)
}

func otelContext(c record.TraceContext) trace.SpanContext {
	config := trace.SpanContextConfig{TraceID: c.TraceID, SpanID: c.SpanID, Remote: true}
	if c.Sampled {
		config.TraceFlags = trace.FlagsSampled
	}
	return trace.NewSpanContext(config)
}

// End ends the span; err is why it failed, of which only the kind is told.
func (s *Span) End(err error) {
	if s.span == nil {
		return
	}
	s.fail(err)
	s.span.End()
}

func (s *Span) endAt(at time.Time) {
	if s.span != nil {
		s.span.End(trace.WithTimestamp(at))
	}
}

func (s *Span) fail(err error) {
	if err == nil {
		return
	}
	s.span.SetStatus(codes.Error, "")
	s.span.SetAttributes(semconv.ErrorTypeKey.String(fault.From(err).Kind.String()))
}
