package event

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"hooklog/domain/fault"
	"hooklog/domain/webhook"
)

// form is how bytes are written into a message.
type form uint8

const (
	absent   form = iota
	encoded       // as a base64 string
	verbatim      // as the JSON value that they are
	text          // as a JSON string
)

// payload is what a call sent, freed of the token, and how it is written. The
// form is that of the body, or that of every file.
type payload struct {
	form  form
	body  []byte
	files []File // not nil for multipart
}

func payloadOf(c *Call, n *needle) (payload, error) {
	switch {
	case c.PayloadType == webhook.Ignore:
		return payload{}, nil
	case c.Files != nil:
		return filesPayload(c, n)
	case len(c.Body) == 0:
		return payload{}, nil
	}
	// Before it is looked at: a token may begin inside an escape, and what was
	// JSON with it need not be JSON without it.
	n.overwrite(c.Body)
	p := payload{form: encoded, body: c.Body}
	if c.PayloadType == webhook.Raw {
		switch {
		case IsJSONType(c.ContentType) && utf8.Valid(c.Body) && json.Valid(c.Body):
			p.form = verbatim
		case isPlainText(c.Body):
			p.form = text
		default:
			return payload{}, fault.New(fault.Unsupported,
				"This webhook takes JSON, or UTF-8 text without control characters.")
		}
	}
	return p, nil
}

func filesPayload(c *Call, n *needle) (payload, error) {
	p := payload{form: encoded, files: c.Files}
	if c.PayloadType == webhook.Raw {
		p.form = text
	}
	for i := range p.files {
		n.overwrite(p.files[i].Content)
		if p.form == text && !isPlainText(p.files[i].Content) {
			return payload{}, fault.New(fault.Unsupported,
				"This webhook takes files of UTF-8 text without control characters.")
		}
	}
	return p, nil
}

// IsJSONType reports application/json, text/json and every subtype that ends
// with +json, whatever the parameters.
func IsJSONType(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	kind, subtype, _ := strings.Cut(strings.Trim(mediaType, " \t"), "/")
	if strings.EqualFold(subtype, "json") {
		return strings.EqualFold(kind, "application") || strings.EqualFold(kind, "text")
	}
	const suffix = "+json"
	return len(subtype) > len(suffix) && strings.EqualFold(subtype[len(subtype)-len(suffix):], suffix)
}

// contentSize is exactly what the bytes of body or files take in the message.
func (p *payload) contentSize() int {
	size := p.form.size(p.body)
	for i := range p.files {
		size += p.form.size(p.files[i].Content)
	}
	return size
}

// frameSize is room enough for what is written around them.
func (p *payload) frameSize() int {
	size := len(`,"payload":{"origin":""}`)
	for i := range p.files {
		size += textSize(p.files[i].Filename) + textSize(p.files[i].ContentType) +
			len(`{"filename":"","contentType":"","length":,"origin":""},`) + maxDigits
	}
	return size
}

// maxDigits is the most digits of a file's length.
const maxDigits = 19

func (f form) size(b []byte) int {
	switch f {
	case encoded:
		return base64.StdEncoding.EncodedLen(len(b))
	case text:
		return escapedLen(b)
	default:
		return len(b)
	}
}

func (m *message) payload(p *payload) {
	if p.form == absent {
		return
	}
	m.raw(`,"payload":`)
	switch {
	case p.files != nil:
		m.files(p)
	case p.form == encoded:
		m.raw(`{"origin":`)
		m.content(p.form, p.body)
		m.raw(`}`)
	default:
		m.content(p.form, p.body)
	}
}

func (m *message) files(p *payload) {
	m.raw(`{"files":[`)
	for i := range p.files {
		f := &p.files[i]
		m.comma(i)
		m.raw(`{"filename":"`)
		m.text(f.Filename)
		m.raw(`","contentType":"`)
		m.text(f.ContentType)
		m.raw(`","length":`)
		m.buf = strconv.AppendInt(m.buf, int64(len(f.Content)), 10)
		m.raw(`,"origin":`)
		m.content(p.form, f.Content)
		m.raw(`}`)
	}
	m.raw(`]}`)
}

func (m *message) content(f form, b []byte) {
	switch f {
	case encoded:
		m.raw(`"`)
		m.buf = base64.StdEncoding.AppendEncode(m.buf, b)
		m.raw(`"`)
	case text:
		m.raw(`"`)
		m.buf = appendEscaped(m.buf, b)
		m.raw(`"`)
	default:
		m.buf = append(m.buf, b...)
	}
}
