package telemetry

import (
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"hooklog/domain/fault"
	"hooklog/domain/record"
)

const headerTraceparent = "Traceparent" // as net/http writes it

// Receive begins the trace of a call whose webhook is known. Callers are
// strangers: what trace they come from is a link, and neither joins their trace to
// ours nor decides whether ours is recorded. The path is the route's.
func (t *Tracer) Receive(r *http.Request, path string, began time.Time, call Call) Span {
	if t == nil {
		return Span{TraceContext: newTrace()}
	}
	var links []trace.Link
	if from := callersPlace(r); !from.IsZero() {
		links = []trace.Link{{SpanContext: otelContext(from)}}
	}
	return t.serve(r, path, began, call.attributes(), trace.WithNewRoot(), trace.WithLinks(links...))
}

// Command begins the span of a management command. Its caller is known, so its
// span is part of the trace that the caller comes from, if any.
func (t *Tracer) Command(r *http.Request, path string, began time.Time) Span {
	from := t.At(callersPlace(r), Call{})
	switch {
	case from.recorded():
		return from.below(r.Method+" "+path, trace.SpanKindServer, serverAttributes(r, path), trace.WithTimestamp(began))
	case t == nil || !from.IsZero():
		return from.same()
	}
	return t.serve(r, path, began, nil)
}

func callersPlace(r *http.Request) record.TraceContext {
	given := r.Header[headerTraceparent]
	if len(given) != 1 {
		return record.TraceContext{}
	}
	return record.ParseTraceContext(given[0])
}

// serve begins a root, for which the sampler is asked.
func (t *Tracer) serve(r *http.Request, path string, began time.Time, call []attribute.KeyValue, options ...trace.SpanStartOption) Span {
	options = append(options, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(began),
		trace.WithAttributes(call...), trace.WithAttributes(serverAttributes(r, path)...))
	_, span := t.tracer.Start(r.Context(), r.Method+" "+path, options...)
	return t.began(span, call)
}

// serverAttributes leave out the query, which may hold a token, and who calls.
func serverAttributes(r *http.Request, path string) []attribute.KeyValue {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return []attribute.KeyValue{
		semconv.HTTPRequestMethodKey.String(r.Method),
		semconv.HTTPRoute(path),
		semconv.URLPath(path),
		semconv.URLScheme(scheme),
	}
}

// Answered ends the span of a request that was answered with the status, or failed
// with err. That a caller is wrong is no failure of the server.
func (s *Span) Answered(status int, err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		kind := fault.From(err).Kind
		status = kind.Status()
		s.span.SetAttributes(semconv.ErrorTypeKey.String(kind.String()))
	}
	if status >= http.StatusInternalServerError {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	s.span.End()
}
