// Package forward sends calls on to another program, as far as the event messages
// allow just as their callers sent them, and remembers how far it came. Where the
// calls come from, and what to do about a refusal, is for its user.
package forward

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strconv"

	"hooklog/domain/event"
)

// Message is an event message, as the log has it.
type Message struct {
	TraceID       string              `json:"traceId"`
	CorrelationID string              `json:"correlationId"`
	Method        string              `json:"method"`
	ContentType   string              `json:"contentType"`
	Headers       map[string]string   `json:"headers"`
	Query         map[string][]string `json:"query"`
	Payload       json.RawMessage     `json:"payload"`
}

// files is the payload of a multipart call.
type files struct {
	Files []struct {
		Filename, ContentType, Origin string
		Length                        int
	}
}

// Body gives the body of the call and its content type. The message does not say
// how the webhook writes payloads, so the length that the caller gave decides
// where two forms would fit.
func (m Message) Body() (content []byte, contentType string, err error) {
	if len(m.Payload) == 0 {
		return nil, m.ContentType, nil
	}
	media, params, _ := mime.ParseMediaType(m.ContentType)
	if media == "multipart/form-data" {
		return m.multipart(params["boundary"])
	}
	var text string
	if json.Unmarshal(m.Payload, &text) == nil && m.isText(text) {
		return []byte(text), m.ContentType, nil
	}
	if content, is := m.encoded(); is {
		return content, m.ContentType, nil
	}
	return m.Payload, m.ContentType, nil
}

// isText reports that a string is the text that was sent, and not a JSON string.
func (m Message) isText(text string) bool {
	return !event.IsJSONType(m.ContentType) || m.length() == len(text)
}

// encoded gives what a webhook of payload type base64 got.
func (m Message) encoded() ([]byte, bool) {
	var members map[string]json.RawMessage
	var origin string
	if json.Unmarshal(m.Payload, &members) != nil || len(members) != 1 || json.Unmarshal(members["origin"], &origin) != nil {
		return nil, false
	}
	content, err := base64.StdEncoding.DecodeString(origin)
	if err != nil || m.length() >= 0 && m.length() != len(content) {
		return nil, false
	}
	return content, true
}

// length is that which the caller gave, or -1.
func (m Message) length() int {
	n, err := strconv.Atoi(m.Headers["content-length"])
	if err != nil {
		return -1
	}
	return n
}

// multipart builds the files of a call together again. Other parts are not in the
// message.
func (m Message) multipart(boundary string) ([]byte, string, error) {
	var sent files
	if err := json.Unmarshal(m.Payload, &sent); err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.SetBoundary(boundary) // one that cannot be used again is replaced
	for _, f := range sent.Files {
		header := textproto.MIMEHeader{"Content-Disposition": {mime.FormatMediaType("form-data", map[string]string{"name": "file", "filename": f.Filename})}}
		if f.ContentType != "" {
			header.Set("Content-Type", f.ContentType)
		}
		part, err := w.CreatePart(header)
		if err != nil {
			return nil, "", err
		}
		content := []byte(f.Origin)
		if decoded, err := base64.StdEncoding.DecodeString(f.Origin); err == nil && len(decoded) == f.Length {
			content = decoded
		}
		if _, err := part.Write(content); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), mime.FormatMediaType("multipart/form-data", map[string]string{"boundary": w.Boundary()}), nil
}
