package telemetry

import (
	"net/http"
	"time"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"hooklog/domain/fault"
	"hooklog/domain/record"
)

const headerTraceparent = "Traceparent" // as net/http writes it

// Receive begins the trace of a call whose webhook is known. Callers are
// strangers: what trace they come from is a link, and neither joins their trace to
// ours nor decides whether ours is recorded. The path is the route's.
func (t *Tracer) Receive(r *http.Request, path string, began time.Time, call Call) Span {
	if t == nil {
		return Span{TraceContext: newTrace(), of: call}
	}
	served := serving(r, path, began)
	served.link = callersPlace(r)
	return t.root(call, served)
}

// Command begins the span of a management command. Its caller is known, so its
// span is part of the trace that the caller comes from, if any.
func (t *Tracer) Command(r *http.Request, path string, began time.Time) Span {
	from := t.At(callersPlace(r), Call{})
	switch {
	case from.recorded():
		return from.below(serving(r, path, began))
	case t == nil || !from.IsZero():
		return from.same()
	}
	return t.root(Call{}, serving(r, path, began))
}

func callersPlace(r *http.Request) record.TraceContext {
	given := r.Header[headerTraceparent]
	if len(given) != 1 {
		return record.TraceContext{}
	}
	return record.ParseTraceContext(given[0])
}

// serving leaves out the query, which may hold a token, and who calls.
func serving(r *http.Request, path string, began time.Time) recording {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return recording{
		name: r.Method + " " + path, kind: server, began: began,
		attributes: make(attributes, 0, 256).
			text(string(semconv.HTTPRequestMethodKey), r.Method).
			text(string(semconv.HTTPRouteKey), path).
			text(string(semconv.URLPathKey), path).
			text(string(semconv.URLSchemeKey), scheme),
	}
}

// Answered ends the span of a request that was answered with the status, or failed
// with err. That a caller is wrong is no failure of the server.
func (s *Span) Answered(status int, err error) {
	if s.own == nil {
		return
	}
	if err != nil {
		kind := fault.From(err).Kind
		status = kind.Status()
		s.own.attributes = s.own.attributes.text(string(semconv.ErrorTypeKey), kind.String())
	}
	s.own.failed = status >= http.StatusInternalServerError
	s.own.attributes = s.own.attributes.number(string(semconv.HTTPResponseStatusCodeKey), status)
	s.endAt(time.Now())
}
