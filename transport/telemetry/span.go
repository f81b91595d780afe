package telemetry

import (
	crypto "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"time"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"hooklog/domain/fault"
	"hooklog/domain/record"
)

// Call is what every span of a call says of it: what a call is found by. The
// zero value is for spans of no call.
type Call struct {
	TraceID, Last6, EventKey string
}

func (c *Call) attributes() attributes {
	if c.TraceID == "" {
		return nil
	}
	return make(attributes, 0, 160).text("webhook.trace_id", c.TraceID).text("webhook.last6", c.Last6).text("webhook.event_key", c.EventKey)
}

// callOf is the call that a record's headers tell.
func callOf(r *record.Record) Call {
	c := Call{TraceID: r.Header(record.HeaderTraceID), EventKey: r.Header(record.HeaderEventKey)}
	c.Last6, _, _ = strings.Cut(c.TraceID, ":")
	return c
}

// Span is a place in a trace. Where the trace is not recorded it is nothing but
// that, and so are the places below it. It is ended by one of its methods; the
// zero value begins a trace that nobody records.
type Span struct {
	record.TraceContext
	of     Call
	tracer *Tracer    // nil where the trace is not recorded
	call   attributes // what is said of the call, here and below
	own    *recording // nil where the span is not this process's
}

// recording is what is written down when a span ends.
type recording struct {
	name       string
	kind       kind
	parent     [8]byte // zeros at the root
	remote     bool    // the parent is another process's
	began      time.Time
	link       record.TraceContext
	attributes attributes
	failed     bool
}

// newTrace begins a trace that nobody records yet.
func newTrace() (c record.TraceContext) {
	var random [len(c.TraceID) + len(c.SpanID)]byte
	_, _ = crypto.Read(random[:]) // never fails
	copy(c.TraceID[:], random[:])
	copy(c.SpanID[:], random[len(c.TraceID):])
	return c
}

// root begins a trace, which is recorded or not.
func (t *Tracer) root(call Call, r recording) Span {
	s := Span{TraceContext: newTrace(), of: call}
	if t == nil || !t.samples(s.TraceID) {
		return s
	}
	s.Sampled, s.tracer, s.call, s.own = true, t, call.attributes(), &r
	return s
}

// samples reports whether a new trace is recorded: chosen by its id, so that every
// process that asks decides alike.
func (t *Tracer) samples(id [16]byte) bool {
	const half = 1 << 63
	return t.share >= 1 || float64(binary.BigEndian.Uint64(id[8:])>>1) < t.share*half
}

// At is a place that another process, or another span, has told of. The call is
// what the spans below it are of.
func (t *Tracer) At(place record.TraceContext, call Call) Span {
	s := Span{TraceContext: place, of: call}
	if t.follows(place) {
		s.Sampled, s.tracer, s.call = true, t, call.attributes()
	}
	return s
}

// follows reports whether what is below a place is recorded.
func (t *Tracer) follows(place record.TraceContext) bool {
	switch {
	case t == nil || place.IsZero():
		return false
	case t.alone:
		return t.samples(place.TraceID)
	}
	return place.Sampled
}

// recorded reports whether a span below this one would be.
func (s *Span) recorded() bool { return s.tracer != nil }

// same is the place itself, for a span that is not recorded.
func (s *Span) same() Span {
	if s.IsZero() {
		return Span{TraceContext: newTrace(), of: s.of}
	}
	return Span{TraceContext: s.TraceContext, of: s.of}
}

// below begins a span that is recorded.
func (s *Span) below(r recording) Span {
	r.parent, r.remote = s.SpanID, s.own == nil
	child := Span{TraceContext: s.TraceContext, of: s.of, tracer: s.tracer, call: s.call, own: &r}
	binary.BigEndian.PutUint64(child.SpanID[:], 1+rand.Uint64N(1<<64-1)) //nolint:gosec // G404: it need not be secret, but must not be 0
	return child
}

// End ends the span; err is why it failed, of which only the kind is told.
func (s *Span) End(err error) {
	if s.own == nil {
		return
	}
	if err != nil {
		s.own.failed = true
		s.own.attributes = s.own.attributes.text(string(semconv.ErrorTypeKey), fault.From(err).Kind.String())
	}
	s.endAt(time.Now())
}

func (s *Span) endAt(ended time.Time) {
	var room [1 << 10]byte
	s.tracer.batches.add(s.encode(room[:0], ended))
}
