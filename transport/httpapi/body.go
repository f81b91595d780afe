package httpapi

import (
	"io"
	"net/http"
	"sync"

	"hooklog/domain/event"
)

// content is the body of a call as received.
type content struct {
	read bool
	// size is the number of body bytes, whatever became of them.
	size int
	body []byte
	// files is not nil for multipart; body is empty then.
	files []event.File
	// memory is what body and files lie in.
	memory memory
}

// release gives the memory back; body and files are invalid afterwards.
func (c *content) release() {
	c.memory.release()
	c.body, c.files = nil, nil
}

// receive reads the body of a call with a known webhook. A token in it is
// payload.
func (c *content) receive(in *inflow, h http.Header) error {
	if mediaType(h) == contentMultipart {
		_, err := c.receiveMultipart(in, h)
		return err
	}
	return c.receiveWhole(in)
}

func (c *content) receiveWhole(in *inflow) error {
	if in.declared == 0 {
		c.read = true
		return nil
	}
	err := c.memory.readAll(in, in)
	c.read, c.size, c.body = true, in.read, c.memory.bytes()
	if err == nil && in.declared > int64(in.read) {
		err = io.ErrUnexpectedEOF
	}
	return in.explain(err)
}

// mayCarryToken reports that the body may bring the token itself. Where it can
// have none, nothing is read: an unidentified caller costs as little as can be.
// An encoded body has none either, because it cannot be looked into.
func mayCarryToken(r *http.Request) bool {
	if r.Method != http.MethodPost || hasContentEncoding(r.Header) {
		return false
	}
	kind := mediaType(r.Header)
	return kind == contentMultipart || kind == contentForm || event.IsJSONType(kind)
}

// receiveWithToken reads a body that may carry the token.
func (c *content) receiveWithToken(in *inflow, h http.Header) (token string, err error) {
	kind := mediaType(h)
	if kind == contentMultipart {
		tokens, err := c.receiveMultipart(in, h)
		if err != nil || len(tokens) == 0 {
			return "", err
		}
		return tokens[0], once(tokens)
	}
	if err := c.receiveWhole(in); err != nil {
		return "", err
	}
	find := event.TokenInJSON
	if kind == contentForm {
		find = event.TokenInForm
	}
	token, _, err = find(c.body)
	return token, err
}

func hasContentEncoding(h http.Header) bool { return len(h["Content-Encoding"]) > 0 }

// memory is where a body lies. It grows with the steps of an inflow, which have
// their place in the budget.
type memory struct {
	lent *[]byte // nil while there is none
	step int
}

// recycled is the memory of earlier bodies, by step. It can be used again as
// soon as a message is encoded, because the message has a copy of its own. The
// largest step is left to the garbage collector.
var recycled [len(steps) - 1]sync.Pool

func (m *memory) bytes() []byte {
	if m.lent == nil {
		return nil
	}
	return *m.lent
}

// readAll appends all that from gives, which is the inflow or a reader over it.
func (m *memory) readAll(from io.Reader, in *inflow) error {
	for {
		b := m.bytes()
		if len(b) == cap(b) {
			step, err := in.room()
			if err != nil {
				return err
			}
			m.grow(step)
			b = *m.lent
		}
		n, err := from.Read(b[len(b):cap(b)])
		*m.lent = b[:len(b)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// grow moves to memory of the step.
func (m *memory) grow(step int) {
	var next *[]byte
	if step < len(recycled) {
		next, _ = recycled[step].Get().(*[]byte)
	}
	if next == nil {
		made := make([]byte, 0, steps[step])
		next = &made
	}
	*next = append((*next)[:0], m.bytes()...)
	m.release()
	*m = memory{lent: next, step: step}
}

func (m *memory) release() {
	if m.lent != nil && m.step < len(recycled) {
		recycled[m.step].Put(m.lent)
	}
	*m = memory{}
}
