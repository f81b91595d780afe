package event

import "hooklog/domain/record"

// Meta is what the record headers say beside the call itself.
type Meta struct {
	BaseURL, Last6 string
	// Traceparent and Tracestate are of the trace that receiving started.
	// There is no header for an empty Tracestate.
	Traceparent, Tracestate string
}

// Headers gives the headers of the record: the CloudEvents Kafka binding in
// binary mode, the trace context, and hooklog's own.
func Headers(c *Call, m Meta) []record.Header {
	h := headers{
		list: make([]record.Header, 0, 10),
		buf: make([]byte, 0, 64+len(timeLayout)+len(c.CorrelationID)+len(c.EventKey)+len(c.TraceID)+
			len(m.BaseURL)+2*len(m.Last6)+len(m.Traceparent)+len(m.Tracestate)),
	}
	h.add("ce_specversion", "1.0")
	h.add("ce_id", c.CorrelationID)
	h.add("ce_type", c.EventKey)
	h.add("ce_source", m.BaseURL, "/webhook/", m.Last6)
	h.buf = c.Received.UTC().AppendFormat(h.buf, timeLayout)
	h.add("ce_time")
	h.add("content-type", "application/json")
	h.add(record.HeaderTraceparent, m.Traceparent)
	if m.Tracestate != "" {
		h.add(record.HeaderTracestate, m.Tracestate)
	}
	h.add(record.HeaderTraceID, c.TraceID)
	h.add(record.HeaderLast6, m.Last6)
	return h.list
}

// headers is a list of headers whose values share one buffer.
type headers struct {
	list []record.Header
	buf  []byte
	used int // how much of buf the headers so far have
}

// add makes a header of what was appended to buf since the last one and parts.
func (h *headers) add(key string, parts ...string) {
	for _, part := range parts {
		h.buf = append(h.buf, part...)
	}
	end := len(h.buf)
	h.list = append(h.list, record.Header{Key: key, Value: h.buf[h.used:end:end]})
	h.used = end
}
