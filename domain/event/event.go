// Package event is the event message: the value and the headers of a record on
// svc.event.<eventKey>, and the rule that the webhook's token is in neither.
// It is the hot path of receiving, so a message is appended by hand into one
// buffer of its own, and a body is copied once. It deliberately knows no HTTP
// request, no clock and no topic: the caller hands over what it received.
package event

import (
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

// MaxEncoded is the largest message in bytes.
const MaxEncoded = 8 << 20

// timeLayout is RFC 3339 with exactly the milliseconds that Kafka keeps.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// File is one file part of a multipart call.
type File struct {
	Filename, ContentType string
	Content               []byte
}

// Call is a received call, as received: what must not be passed on is left out
// by Encode.
type Call struct {
	EventKey, TraceID, CorrelationID string

	Received                  time.Time
	Method, ContentType, Host string
	// Header has the canonical names of net/http.
	Header map[string][]string
	Query  map[string][]string

	PayloadType webhook.PayloadType
	// Body is empty when there is none. Encode overwrites the token in it.
	Body []byte
	// Files is not nil when the call was multipart/form-data, even without a
	// file; Body does not count then. Encode overwrites the token in them.
	Files []File
}

// Encode gives the message. It fails with fault.Unsupported for a raw payload
// that is neither JSON nor plain text, and with fault.TooLarge for a message
// over MaxEncoded.
func Encode(c *Call, token secret.Token) ([]byte, error) {
	needle := needleOf(token)
	p, err := payloadOf(c, &needle)
	if err != nil {
		return nil, err
	}
	// The content alone can be over the limit: nothing is allocated for it then.
	size := p.contentSize()
	if size > MaxEncoded {
		return nil, errTooLarge()
	}
	var headerSpace, querySpace [24]field // enough for most calls, on the stack
	headers := headerFields(headerSpace[:0], c, &needle)
	query := queryFields(querySpace[:0], c.Query, &needle)
	size += envelopeSize(c) + fieldsSize(headers) + fieldsSize(query) + p.frameSize()

	m := message{buf: make([]byte, 0, size), needle: needle}
	m.envelope(c)
	m.headers(headers)
	m.query(query)
	m.payload(&p)
	m.raw(`}`)
	if len(m.buf) > MaxEncoded {
		return nil, errTooLarge()
	}
	return m.buf, nil
}

func errTooLarge() error {
	return fault.New(fault.TooLarge, "The encoded message is over %d bytes.", MaxEncoded)
}

// message is a message being appended.
type message struct {
	buf    []byte
	needle needle
}

func (m *message) raw(s string) { m.buf = append(m.buf, s...) }

// text appends the inside of a JSON string of what a caller sent: escaped, in
// valid UTF-8, and without the token.
func (m *message) text(s string) {
	start := len(m.buf)
	m.buf = appendEscaped(m.buf, validText(s))
	m.needle.overwrite(m.buf[start:])
}

func (m *message) envelope(c *Call) {
	m.raw(`{"eventKey":"`)
	m.buf = appendEscaped(m.buf, c.EventKey)
	m.raw(`","traceId":"`)
	m.buf = appendEscaped(m.buf, c.TraceID)
	m.raw(`","correlationId":"`)
	m.buf = appendEscaped(m.buf, c.CorrelationID)
	m.raw(`","received":"`)
	m.buf = c.Received.UTC().AppendFormat(m.buf, timeLayout)
	m.raw(`","method":"`)
	m.text(c.Method)
	m.raw(`","contentType":"`)
	m.text(c.ContentType)
	m.raw(`"`)
}

// envelopeSize is room enough for envelope and for the names and braces of a
// message.
func envelopeSize(c *Call) int {
	const structure = `{"eventKey":"","traceId":"","correlationId":"","received":"` + timeLayout +
		`","method":"","contentType":"","headers":{},"query":{}}`
	return len(structure) + escapedLen(c.EventKey) + escapedLen(c.TraceID) + escapedLen(c.CorrelationID) +
		textSize(c.Method) + textSize(c.ContentType)
}
