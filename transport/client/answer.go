package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"iter"
	"mime"
	"net/http"
)

const contentLines = "application/x-ndjson"

// maxLine bounds one line of a stream.
const maxLine = 16 << 20

// Answer is what a command answers: one value, or a stream of them. Either is
// read once.
type Answer struct {
	client *Client
	resp   *http.Response
}

// IsStream reports that the answer is JSON values, one a line, as they come.
func (a *Answer) IsStream() bool {
	media, _, _ := mime.ParseMediaType(a.resp.Header.Get("Content-Type"))
	return media == contentLines
}

// Value gives the one value.
func (a *Answer) Value() (json.RawMessage, error) { return a.client.whole(a.resp) }

// Lines gives the values of a stream. They end with an error when the service
// breaks off.
func (a *Answer) Lines() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		defer func() { _ = a.resp.Body.Close() }()
		lines := bufio.NewScanner(a.resp.Body)
		lines.Buffer(make([]byte, 0, 64<<10), maxLine)
		for lines.Scan() {
			switch {
			case len(lines.Bytes()) == 0:
				continue
			case !json.Valid(lines.Bytes()):
				yield(nil, a.client.foreign())
				return
			case !yield(bytes.Clone(lines.Bytes()), nil):
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, unreachable(a.client.base, err))
		}
	}
}
