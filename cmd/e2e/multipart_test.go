package e2e_test

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// part is one part of a multipart body.
type part struct {
	name, filename, contentType, content string
}

// multipartBody writes the parts down, so that every byte is known.
func multipartBody(parts ...part) (contentType, body string) {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "--frame\r\nContent-Disposition: form-data; name=%q", p.name)
		if p.filename != "" {
			fmt.Fprintf(&b, `; filename="%s"`, p.filename)
		}
		if p.contentType != "" {
			fmt.Fprintf(&b, "\r\nContent-Type: %s", p.contentType)
		}
		fmt.Fprintf(&b, "\r\n\r\n%s\r\n", p.content)
	}
	return "multipart/form-data; boundary=frame", b.String() + "--frame--\r\n"
}

// file is how a file stands in a message.
func file(filename, contentType string, length int, origin string) string {
	return `{"filename":"` + filename + `","contentType":"` + contentType + `","length":` + strconv.Itoa(length) + `,"origin":"` + origin + `"}`
}

func TestMultipart(t *testing.T) {
	s := startOnOne(t)
	hooks := map[string]webhook{
		"base64": s.put("eventKey=webhook.files.base64"),
		"raw":    s.put("eventKey=webhook.files.raw", "payloadType=raw"),
		"ignore": s.put("eventKey=webhook.files.ignore", "payloadType=ignore"),
	}
	const binary = "\x00\xff\r\n--fram"
	text := part{"file", "a.txt", "text/plain", "hällo\r\n<b>\""}
	picture := part{"file", "b.png", "image/png", binary}
	note := part{"note", "c.txt", "text/plain", "not a file of ours"}
	bare := part{"file", "", "", "without a filename"}
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

	tests := []struct {
		name, payloadType string
		parts             []part
		payload           string // empty means absent
		status            int    // 200 when 0
	}{
		{
			"several file parts may be sent in one request", "base64",
			[]part{text, picture, text},
			`{"files":[` + file("a.txt", "text/plain", 12, encoded(text.content)) + "," + file("b.png", "image/png", 10, encoded(binary)) + "," + file("a.txt", "text/plain", 12, encoded(text.content)) + `]}`, 0,
		},
		{
			"parts whose name is not file are ignored", "base64",
			[]part{note, picture, note},
			`{"files":[` + file("b.png", "image/png", 10, encoded(binary)) + `]}`, 0,
		},
		{
			"parts named file without a filename are ignored", "base64",
			[]part{bare, picture},
			`{"files":[` + file("b.png", "image/png", 10, encoded(binary)) + `]}`, 0,
		},
		{"no file at all", "base64", []part{note}, `{"files":[]}`, 0},
		{
			"an empty file without a content type", "base64",
			[]part{{name: "file", filename: "empty"}},
			`{"files":[` + file("empty", "", 0, "") + `]}`, 0,
		},
		{
			"a file name in UTF-8", "base64",
			[]part{{name: "file", filename: "naïve €.txt", content: "x"}},
			`{"files":[` + file("naïve €.txt", "", 1, "eA==") + `]}`, 0,
		},
		{
			"with raw, origin is text", "raw",
			[]part{text},
			`{"files":[` + file("a.txt", "text/plain", 12, `hällo\r\n<b>\"`) + `]}`, 0,
		},
		{"with raw, a file that is not plain UTF-8 text: 415", "raw", []part{text, picture}, "", 415},
		{"with raw, binary parts that are ignored are welcome", "raw", []part{{"note", "n", "", binary}, {name: "file", filename: "a", content: "x"}}, `{"files":[` + file("a", "", 1, "x") + `]}`, 0},
		{"with ignore, no payload", "ignore", []part{text, picture}, "", 0},
		{"at most 64 parts: 64", "base64", manyParts(64), `{"files":[]}`, 0},
		{"at most 64 parts: 65", "base64", manyParts(65), "", 400},
		{"at most 64 parts, also for ignore", "ignore", manyParts(65), "", 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, hook := s.in(t), hooks[tt.payloadType]
			contentType, body := multipartBody(tt.parts...)
			a := s.receive(request{query: "token=" + hook.UUID, contentType: contentType, body: body})
			if tt.status != 0 {
				wantProblem(t, a, tt.status, true)
				return
			}
			m := s.message(hook.EventKey, a.accepted())
			if diff := cmp.Diff(tt.payload, string(m.Payload)); diff != "" {
				t.Errorf("payload (-want +got):\n%s", diff)
			}
			if m.ContentType != contentType {
				t.Errorf("contentType %q", m.ContentType)
			}
		})
	}
	for name, broken := range map[string]request{
		"without a boundary":     {contentType: "multipart/form-data", body: "--frame--\r\n"},
		"that ends too early":    {contentType: "multipart/form-data; boundary=frame", body: "--frame\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx"},
		"that has no part":       {contentType: "multipart/form-data; boundary=frame", body: "something else"},
		"of broken part headers": {contentType: "multipart/form-data; boundary=frame", body: "--frame\r\nno header\r\n\r\nx\r\n--frame--\r\n"},
	} {
		t.Run("a multipart body "+name+": 400", func(t *testing.T) {
			broken.query = "token=" + hooks["base64"].UUID
			wantProblem(t, s.in(t).receive(broken), 400, true)
		})
	}
}

func manyParts(n int) []part {
	parts := make([]part, n)
	for i := range parts {
		parts[i] = part{name: "other", content: "x"}
	}
	return parts
}

func TestMultipartLimits(t *testing.T) {
	s := startOnOne(t)
	small := s.put("eventKey=webhook.files.small", "maxPayloadLength=1000")
	large := s.put("eventKey=webhook.files.large", "maxPayloadLength=4194304")
	ignoring := s.put("eventKey=webhook.files.ignored", "maxPayloadLength=1000", "payloadType=ignore")
	// sized fills the part up until the whole body has that length.
	sized := func(length int, p part) (contentType, body string) {
		_, empty := multipartBody(p)
		p.content = strings.Repeat("x", length-len(empty))
		return multipartBody(p)
	}
	counted := part{name: "file", filename: "a"}
	ignored := part{name: "note"}
	tests := []struct {
		name  string
		hook  webhook
		limit int
		part  part
	}{
		{"the whole request obeys the webhook's maxPayloadLength, framing included", small, 1000, counted},
		{"the whole request obeys the webhook's maxPayloadLength, ignored parts included", small, 1000, ignored},
		{"the whole request obeys the webhook's maxPayloadLength, also for ignore", ignoring, 1000, counted},
		{"the whole payload is limited to 4 MB", large, largestPayload, counted},
		{"the whole payload is limited to 4 MB, ignored parts included", large, largestPayload, ignored},
	}
	for _, tt := range tests {
		for _, chunked := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				s := s.in(t)
				call := request{query: "token=" + tt.hook.UUID, chunked: chunked}
				call.contentType, call.body = sized(tt.limit, tt.part)
				s.receive(call).want(200)
				call.contentType, call.body = sized(tt.limit+1, tt.part)
				wantProblem(t, s.receive(call), 413, true)
			})
		}
	}
	t.Run("what follows the last part counts", func(t *testing.T) {
		s := s.in(t)
		// Far more than a reader of parts takes in beforehand.
		const limit = 100_000
		hook := s.put("eventKey=webhook.files.trailed", "maxPayloadLength="+strconv.Itoa(limit))
		contentType, body := multipartBody(counted)
		call := request{query: "token=" + hook.UUID, contentType: contentType, chunked: true}
		call.body = body + strings.Repeat("x", limit-len(body))
		s.receive(call).want(200)
		call.body += "x"
		wantProblem(t, s.receive(call), 413, true)
	})
	t.Run("a body that brings its token obeys the same", func(t *testing.T) {
		s := s.in(t)
		token := part{name: "token", content: small.UUID}
		_, empty := multipartBody(token, ignored)
		for length, status := range map[int]int{1000: 200, 1001: 413} {
			fill := part{name: "note", content: strings.Repeat("x", length-len(empty))}
			contentType, body := multipartBody(token, fill)
			s.receive(request{contentType: contentType, body: body}).want(status)
		}
	})
}
