package record

import "encoding/hex"

// TraceContext is a place in a trace, as W3C Trace Context carries it from one
// process to the next. The zero value is no place.
type TraceContext struct {
	TraceID [16]byte
	SpanID  [8]byte
	// Sampled says that somebody records the trace.
	Sampled bool
}

// traceparentLength is that of version 00; later versions may only append to it.
const traceparentLength = 55

// IsZero reports that there is no such place: W3C forbids ids of zeros.
func (c TraceContext) IsZero() bool { return c.TraceID == [16]byte{} || c.SpanID == [8]byte{} }

// ParseTraceContext reads the value of a traceparent. What is none gives the zero
// value: a trace that cannot be followed is no error of the record that has it.
func ParseTraceContext(traceparent string) (c TraceContext) {
	s := traceparent
	if len(s) < traceparentLength || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return TraceContext{}
	}
	var version, flags [1]byte
	ok := decodeHex(version[:], s[:2]) && decodeHex(c.TraceID[:], s[3:35]) &&
		decodeHex(c.SpanID[:], s[36:52]) && decodeHex(flags[:], s[53:55])
	switch longer := len(s) > traceparentLength; {
	case !ok, c.IsZero(), version[0] == 0xff:
		return TraceContext{}
	case longer && (version[0] == 0 || s[traceparentLength] != '-'):
		return TraceContext{}
	}
	c.Sampled = flags[0]&1 == 1
	return c
}

// decodeHex is strict: only lower case, as W3C wants it.
func decodeHex(to []byte, from string) bool {
	for i := range to {
		high, low := digit(from[2*i]), digit(from[2*i+1])
		if high < 0 || low < 0 {
			return false
		}
		to[i] = byte(high<<4 | low)
	}
	return true
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// String is the value of a traceparent; empty for the zero value.
func (c TraceContext) String() string {
	if c.IsZero() {
		return ""
	}
	return string(c.Append(make([]byte, 0, traceparentLength)))
}

// Append appends what String gives for a place that is one.
func (c TraceContext) Append(b []byte) []byte {
	b = append(b, "00-"...)
	b = append(hex.AppendEncode(b, c.TraceID[:]), '-')
	b = hex.AppendEncode(b, c.SpanID[:])
	if c.Sampled {
		return append(b, "-01"...)
	}
	return append(b, "-00"...)
}

// Trace is the trace id as text, for log lines.
func (c TraceContext) Trace() string { return hex.EncodeToString(c.TraceID[:]) }

// Span is the span id as text.
func (c TraceContext) Span() string { return hex.EncodeToString(c.SpanID[:]) }

// TraceContext is the place in a trace that the record was sent from.
func (r *Record) TraceContext() TraceContext { return ParseTraceContext(r.Header(HeaderTraceparent)) }

// Follow puts on the record where in a trace it was sent from and, where it is of a
// call, of which: a reader need know no other record to follow either.
func (r *Record) Follow(c TraceContext, traceID, eventKey string) {
	r.Headers = append(r.Headers, Header{Key: HeaderTraceparent, Value: c.Append(make([]byte, 0, traceparentLength))})
	if traceID == "" {
		return
	}
	r.Headers = append(r.Headers,
		Header{Key: HeaderTraceID, Value: []byte(traceID)}, Header{Key: HeaderEventKey, Value: []byte(eventKey)})
}
