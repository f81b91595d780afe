package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"hooklog/domain/fault"
	"hooklog/domain/webhook"
)

const multipartType = "multipart/form-data; boundary=frontier"

// parts writes a multipart body from pairs of disposition (and further header
// lines) and content.
func parts(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString("--frontier\r\nContent-Disposition: form-data; " + pairs[i] + "\r\n\r\n" + pairs[i+1] + "\r\n")
	}
	return b.String() + "--frontier--\r\n"
}

func TestMultipartKeepsTheFilesAsSent(t *testing.T) {
	body := parts(
		`name="file"; filename="a.txt"`+"\r\nContent-Type: text/plain", "=41 first",
		`name="note"`, "ignored",
		`name="file"; filename="b=3D.bin"`+"\r\nContent-Transfer-Encoding: quoted-printable", "=42\r\n\x00\xff",
		`name="file"`, "no filename, so no file",
		`name="upload"; filename="c"`, "ignored, too",
		`name="file"; filename="empty"`, "",
	) + strings.Repeat("epilogue", 10_000)
	for name, prepare := range map[string]func(*http.Request){
		"of known length":   func(*http.Request) {},
		"of unknown length": func(r *http.Request) { r.ContentLength = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := withToken(newPost(receive, multipartType, body))
			prepare(r)
			resultOf(t, w.do(r))
			m := messageOf(t, w)
			got := make([]string, 0, 3)
			for _, f := range m.Payload.Files {
				content, err := base64.StdEncoding.DecodeString(f.Origin)
				if err != nil || len(content) != f.Length {
					t.Errorf("file %+v: %v", f, err)
				}
				got = append(got, fmt.Sprintf("%s %s %q", f.Filename, f.ContentType, content))
			}
			want := []string{`a.txt text/plain "=41 first"`, `b=3D.bin  "=42\r\n\x00\xff"`, `empty  ""`}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("files %q, want %q", got, want)
			}
			if _, accepted := w.journal.taken(t); accepted.Size != len(body) {
				t.Errorf("size %d, want %d", accepted.Size, len(body))
			}
		})
	}
}

func TestMultipartWithATokenPart(t *testing.T) {
	file := []string{`name="file"; filename="a"`, "content"}
	tokenPart := []string{`name="token"`, token}
	for name, pairs := range map[string][]string{
		"before the files": append(append([]string{}, tokenPart...), file...),
		"after the files":  append(append([]string{}, file...), tokenPart...),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			resultOf(t, w.do(newPost(receive, multipartType, parts(pairs...))))
			if m := messageOf(t, w); len(m.Payload.Files) != 1 || m.Payload.Files[0].Length != len("content") {
				t.Errorf("message %+v", m)
			}
		})
	}
	t.Run("twice is refused", func(t *testing.T) {
		body := parts(append(append([]string{}, tokenPart...), tokenPart...)...)
		wantProblem(t, newWorld(t).do(newPost(receive, multipartType, body)), fault.Invalid)
	})
	t.Run("and a body over the webhook's own limit is refused", func(t *testing.T) {
		body := parts(append(append([]string{}, file...), tokenPart...)...)
		w := newWorld(t, webhookWith(t, func(g *webhook.Gate) { g.MaxPayloadLength = len(body) - 1 }))
		document := wantProblem(t, w.do(newPost(receive, multipartType, body)), fault.TooLarge)
		wantErrorLine(t, w, document, fault.TooLarge, true)
	})
}

func TestMultipartLimits(t *testing.T) {
	many := func(n int) string {
		var pairs []string
		for range n {
			pairs = append(pairs, `name="file"; filename="f"`, "x")
		}
		return parts(pairs...)
	}
	t.Run("64 parts are taken", func(t *testing.T) {
		w := newWorld(t)
		resultOf(t, w.post(multipartType, many(64)))
		if m := messageOf(t, w); len(m.Payload.Files) != 64 {
			t.Errorf("%d files", len(m.Payload.Files))
		}
	})
	t.Run("65 parts are refused", func(t *testing.T) {
		wantProblem(t, newWorld(t).post(multipartType, many(65)), fault.Invalid)
	})
	t.Run("4 MB with all framing are taken, one byte more is not", func(t *testing.T) {
		w := newWorld(t, webhookWith(t, func(g *webhook.Gate) { g.MaxPayloadLength = webhook.MaxPayloadLength }))
		room := webhook.MaxPayloadLength - len(parts(`name="file"; filename="f"`, ""))
		resultOf(t, w.post(multipartType, parts(`name="file"; filename="f"`, strings.Repeat("x", room))))
		wantProblem(t, w.post(multipartType, parts(`name="file"; filename="f"`, strings.Repeat("x", room+1))), fault.TooLarge)
	})
	t.Run("what follows the last part counts, too", func(t *testing.T) {
		body := parts() + strings.Repeat("x", 10_000)
		w := newWorld(t, webhookWith(t, func(g *webhook.Gate) { g.MaxPayloadLength = len(body) - 1 }))
		wantProblem(t, w.do(chunked(withToken(newPost(receive, multipartType, body)))), fault.TooLarge)
	})
	t.Run("a body cut inside a part is refused", func(t *testing.T) {
		body := parts(`name="file"; filename="f"`, "content")
		wantProblem(t, newWorld(t).post(multipartType, strings.TrimSuffix(body, "\r\n--frontier--\r\n")), fault.Invalid)
	})
}

// FuzzMultipart holds the handler against a plain reading of the same body.
func FuzzMultipart(f *testing.F) {
	f.Add([]byte(parts(`name="file"; filename="a"`, "x", `name="token"`, "y")))
	f.Add([]byte("--frontier\r\n\r\n"))
	f.Add([]byte("--frontier--"))
	f.Add([]byte("preamble\r\n--frontier \r\nContent-Disposition: form-data; name=file; filename*=utf-8''%00\r\n\r\n\r\n--frontier--\r\nepilogue"))
	f.Fuzz(func(t *testing.T, body []byte) {
		want, ok := plainReading(string(body))
		w := newWorld(t)
		rec := w.post(multipartType, string(body))
		if !ok || len(body) > webhook.DefaultMaxPayloadLength {
			if rec.Code != http.StatusBadRequest && rec.Code != http.StatusRequestEntityTooLarge {
				t.Fatalf("status %d for a body that cannot be read", rec.Code)
			}
			return
		}
		wantStatus(t, rec, http.StatusOK)
		files := messageOf(t, w).Payload.Files
		if len(files) != len(want) {
			t.Fatalf("%d files, want %d", len(files), len(want))
		}
		for i, file := range files {
			content, err := base64.StdEncoding.DecodeString(file.Origin)
			if err != nil || string(content) != strings.ReplaceAll(want[i], token, nilUUID) {
				t.Fatalf("file %d is %q, want %q (%v)", i, content, want[i], err)
			}
		}
	})
}

func plainReading(body string) (files []string, ok bool) {
	reader := multipart.NewReader(strings.NewReader(body), "frontier")
	for n := 0; ; n++ {
		part, err := reader.NextRawPart()
		if err == io.EOF { //nolint:errorlint // Wrapped, it is a body that ends too early.
			return files, n <= 64
		}
		if err != nil {
			return nil, false
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, false
		}
		if part.FormName() == "file" && part.FileName() != "" {
			files = append(files, string(content))
		}
	}
}
