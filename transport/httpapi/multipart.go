package httpapi

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"

	"hooklog/domain/event"
	"hooklog/domain/fault"
)

const (
	maxParts = 64
	// maxTokenPart is the most bytes of a token part; a longer one is no token.
	maxTokenPart = 64
)

// receiveMultipart reads the parts as they come, with their bytes as sent, keeps
// the files and gives the values of the parts named token. All bytes count
// against the limit: the framing, the ignored parts and what follows the last
// one included.
func (c *content) receiveMultipart(r *http.Request, limit int) (tokens []string, err error) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return nil, fault.New(fault.Invalid, "The multipart content type has no boundary.")
	}
	if r.ContentLength > int64(limit) {
		return nil, errTooLarge(limit)
	}
	m := meter{from: r.Body, limit: limit}
	parts := partReader{
		from: multipart.NewReader(&m, params["boundary"]),
		// All files together are shorter than the body.
		memory: slices.Grow(c.borrow(), int(max(r.ContentLength, 0))),
		files:  []event.File{},
	}
	err = parts.readAll()
	if err == nil && parts.count <= maxParts {
		_, err = io.Copy(io.Discard, &m)
	}
	*c.memory = parts.memory
	c.read, c.size, c.files = true, m.read, parts.files
	if parts.count > maxParts {
		return nil, fault.New(fault.Invalid, "The multipart body has more than %d parts.", maxParts)
	}
	return parts.tokens, m.explain(err)
}

// partReader collects what counts of a multipart body.
type partReader struct {
	from   *multipart.Reader
	count  int
	memory []byte // the files' contents, one after the other
	files  []event.File
	tokens []string
}

// readAll ends at the last part, or with one part too many.
func (p *partReader) readAll() error {
	for {
		part, err := p.from.NextRawPart()
		if err == io.EOF { // wrapped, it is a body that ends too early
			return nil
		}
		if err != nil {
			return err
		}
		if p.count++; p.count > maxParts {
			return nil
		}
		if err := p.read(part); err != nil {
			return err
		}
	}
}

func (p *partReader) read(part *multipart.Part) error {
	switch name := part.FormName(); {
	case name == "token":
		value, err := io.ReadAll(io.LimitReader(part, maxTokenPart+1))
		p.tokens = append(p.tokens, string(value))
		return err
	case name == "file" && part.FileName() != "":
		start := len(p.memory)
		memory, err := appendAll(p.memory, part)
		if err != nil {
			return err
		}
		p.memory = memory
		p.files = append(p.files, event.File{
			Filename:    part.FileName(),
			ContentType: part.Header.Get("Content-Type"),
			Content:     memory[start:len(memory):len(memory)],
		})
	}
	return nil
}
