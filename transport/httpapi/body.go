package httpapi

import (
	"io"
	"net/http"
	"slices"
	"sync"

	"hooklog/domain/event"
	"hooklog/domain/fault"
	"hooklog/domain/webhook"
)

// content is the body of a call as received.
type content struct {
	read bool
	// size is the number of body bytes, whatever became of them.
	size int
	body []byte
	// files is not nil for multipart; body is empty then.
	files []event.File
	// memory is what body and files lie in, borrowed from recycled.
	memory *[]byte
}

// recycled is the memory of earlier bodies. It can be used again as soon as a
// message is encoded, because the message has a copy of its own.
var recycled = sync.Pool{New: func() any { return new([]byte) }}

// maxRecycled keeps a few large bodies from staying in memory for ever.
const maxRecycled = 1 << 20

func (c *content) borrow() []byte {
	c.memory = recycled.Get().(*[]byte)
	return (*c.memory)[:0]
}

// release gives the memory back; body and files are invalid afterwards.
func (c *content) release() {
	if c.memory != nil && cap(*c.memory) <= maxRecycled {
		recycled.Put(c.memory)
	}
	*c = content{}
}

// receive reads the body of a call with a known webhook. A token in it is
// payload.
func (c *content) receive(r *http.Request, limit int) error {
	if mediaType(r.Header) == contentMultipart {
		_, err := c.receiveMultipart(r, limit)
		return err
	}
	return c.receiveWhole(r, limit)
}

func (c *content) receiveWhole(r *http.Request, limit int) error {
	body, err := readBody(c.borrow(), r, limit)
	if err != nil {
		return err
	}
	*c.memory = body
	c.read, c.size, c.body = true, len(body), body
	return nil
}

// receiveWithToken reads a body that must bring the token itself. Where it can
// have none, nothing is read: an unidentified caller costs as little as can be.
// An encoded body has none either, because it cannot be looked into.
func (c *content) receiveWithToken(r *http.Request) (token string, err error) {
	if r.Method != http.MethodPost || hasContentEncoding(r.Header) {
		return "", nil
	}
	var find func([]byte) (string, bool, error)
	switch kind := mediaType(r.Header); {
	case kind == contentMultipart:
		tokens, err := c.receiveMultipart(r, webhook.MaxPayloadLength)
		if err != nil || len(tokens) == 0 {
			return "", err
		}
		return tokens[0], once(tokens)
	case kind == contentForm:
		find = event.TokenInForm
	case event.IsJSONType(kind):
		find = event.TokenInJSON
	default:
		return "", nil
	}
	if err := c.receiveWhole(r, webhook.MaxPayloadLength); err != nil {
		return "", err
	}
	token, _, err = find(c.body)
	return token, err
}

func hasContentEncoding(h http.Header) bool { return len(h["Content-Encoding"]) > 0 }

// readBody reads a body of at most limit bytes into buf, which it replaces
// where it is too small.
func readBody(buf []byte, r *http.Request, limit int) ([]byte, error) {
	if r.ContentLength > int64(limit) {
		return nil, errTooLarge(limit)
	}
	if r.ContentLength < 0 {
		m := meter{from: r.Body, limit: limit}
		body, err := appendAll(buf, &m)
		return body, m.explain(err)
	}
	buf = slices.Grow(buf, int(r.ContentLength))[:r.ContentLength]
	if _, err := io.ReadFull(r.Body, buf); err != nil {
		return nil, errUnreadable()
	}
	return buf, nil
}

// appendAll reads to the end, straight into the free part of dst.
func appendAll(dst []byte, from io.Reader) ([]byte, error) {
	for {
		dst = slices.Grow(dst, 1)
		n, err := from.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// meter counts what is read and stops behind the limit.
type meter struct {
	from  io.Reader
	read  int
	limit int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.over() {
		return 0, errTooLarge(m.limit)
	}
	n, err := m.from.Read(p)
	m.read += n
	if m.over() {
		return 0, errTooLarge(m.limit)
	}
	return n, err
}

func (m *meter) over() bool { return m.read > m.limit }

// explain gives an error of whoever read through the meter its kind.
func (m *meter) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case m.over():
		return errTooLarge(m.limit)
	default:
		return errUnreadable()
	}
}

func errTooLarge(limit int) error {
	return fault.New(fault.TooLarge, "The body is over %d bytes.", limit)
}

func errUnreadable() error {
	return fault.New(fault.Invalid, "The body is malformed or ends too early.")
}
