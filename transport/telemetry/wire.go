package telemetry

import (
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"hooklog/domain/record"
)

// The numbers of the OTLP fields that spans are made of.
const (
	scopeSpansSpans = 2

	spanTraceID      = 1
	spanID           = 2
	spanParentSpanID = 4
	spanName         = 5
	spanKind         = 6
	spanStart        = 7
	spanEnd          = 8
	spanAttributes   = 9
	spanLinks        = 13
	spanStatus       = 15
	spanFlags        = 16

	linkTraceID = 1
	linkSpanID  = 2
	linkFlags   = 6

	statusCode  = 3
	statusError = 2

	keyValueKey   = 1
	keyValueValue = 2
	valueText     = 1
	valueNumber   = 3

	flagSampled   = 1
	flagHasRemote = 1 << 8 // the next one is known
	flagRemote    = 1 << 9 // the parent is another process's
)

// kind is who a span is of.
type kind uint64

const (
	internal kind = 1
	server   kind = 2
	producer kind = 4
	consumer kind = 5
)

// attributes are the attributes of a span as they go over the wire. Those that
// many spans share are encoded once.
type attributes []byte

// text adds an attribute. A collector refuses all spans that come with one that is
// no valid text.
func (a attributes) text(key, value string) attributes {
	value = strings.ToValidUTF8(value, "�")
	size := protowire.SizeTag(valueText) + protowire.SizeBytes(len(value))
	return protowire.AppendString(protowire.AppendTag(a.begin(key, size), valueText, protowire.BytesType), value)
}

func (a attributes) number(key string, value int) attributes {
	size := protowire.SizeTag(valueNumber) + protowire.SizeVarint(uint64(value))
	return protowire.AppendVarint(protowire.AppendTag(a.begin(key, size), valueNumber, protowire.VarintType), uint64(value))
}

// begin adds an attribute up to its value, which takes size bytes.
func (a attributes) begin(key string, size int) attributes {
	whole := protowire.SizeTag(keyValueKey) + protowire.SizeBytes(len(key)) + protowire.SizeTag(keyValueValue) + protowire.SizeBytes(size)
	a = protowire.AppendTag(a, spanAttributes, protowire.BytesType)
	a = protowire.AppendVarint(a, uint64(whole))
	a = protowire.AppendTag(a, keyValueKey, protowire.BytesType)
	a = protowire.AppendString(a, key)
	a = protowire.AppendTag(a, keyValueValue, protowire.BytesType)
	return protowire.AppendVarint(a, uint64(size))
}

// encode appends a span that ended.
func (s *Span) encode(b []byte, ended time.Time) []byte {
	r := s.own
	b = appendBytes(b, spanTraceID, s.TraceID[:])
	b = appendBytes(b, spanID, s.SpanID[:])
	flags := uint32(flagSampled | flagHasRemote)
	if r.parent != [8]byte{} {
		b = appendBytes(b, spanParentSpanID, r.parent[:])
		if r.remote {
			flags |= flagRemote
		}
	}
	b = protowire.AppendTag(b, spanName, protowire.BytesType)
	b = protowire.AppendString(b, strings.ToValidUTF8(r.name, "�"))
	b = appendNumber(b, spanKind, uint64(r.kind))
	b = appendTime(b, spanStart, r.began)
	// By the monotonic clock: the other may be set back meanwhile.
	b = appendTime(b, spanEnd, r.began.Add(max(0, ended.Sub(r.began))))
	b = append(append(b, s.call...), r.attributes...)
	if !r.link.IsZero() {
		b = appendLink(b, r.link)
	}
	if r.failed {
		b = appendBytes(b, spanStatus, appendNumber(nil, statusCode, statusError))
	}
	return protowire.AppendFixed32(protowire.AppendTag(b, spanFlags, protowire.Fixed32Type), flags)
}

func appendLink(b []byte, to record.TraceContext) []byte {
	flags := uint32(flagHasRemote | flagRemote)
	if to.Sampled {
		flags |= flagSampled
	}
	link := appendBytes(nil, linkTraceID, to.TraceID[:])
	link = appendBytes(link, linkSpanID, to.SpanID[:])
	link = protowire.AppendFixed32(protowire.AppendTag(link, linkFlags, protowire.Fixed32Type), flags)
	return appendBytes(b, spanLinks, link)
}

func appendBytes(b []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), value)
}

func appendNumber(b []byte, field protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), value)
}

func appendTime(b []byte, field protowire.Number, t time.Time) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), uint64(t.UnixNano()))
}
