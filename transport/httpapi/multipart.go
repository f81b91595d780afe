package httpapi

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"

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
func (c *content) receiveMultipart(in *inflow, h http.Header) (tokens []string, err error) {
	_, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return nil, fault.New(fault.Invalid, "The multipart content type has no boundary.")
	}
	parts := partReader{in: in, from: multipart.NewReader(in, params["boundary"]), memory: &c.memory}
	err = parts.readAll()
	if err == nil && parts.count <= maxParts {
		_, err = io.Copy(io.Discard, in)
	}
	c.read, c.size, c.files = true, in.read, parts.files()
	if parts.count > maxParts {
		return nil, fault.New(fault.Invalid, "The multipart body has more than %d parts.", maxParts)
	}
	return parts.tokens, in.explain(err)
}

// partReader collects what counts of a multipart body.
type partReader struct {
	in     *inflow
	from   *multipart.Reader
	count  int
	memory *memory // the files' contents, one after the other
	found  []filePart
	tokens []string
}

// filePart is a file whose content ends there in memory, which may still move.
type filePart struct {
	filename, contentType string
	end                   int
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
		if err := p.memory.readAll(part, p.in); err != nil {
			return err
		}
		p.found = append(p.found, filePart{part.FileName(), part.Header.Get("Content-Type"), len(p.memory.bytes())})
	}
	return nil
}

// files is not nil even without a file.
func (p *partReader) files() []event.File {
	files := make([]event.File, len(p.found))
	start := 0
	for i, f := range p.found {
		files[i] = event.File{Filename: f.filename, ContentType: f.contentType, Content: p.memory.bytes()[start:f.end:f.end]}
		start = f.end
	}
	return files
}
