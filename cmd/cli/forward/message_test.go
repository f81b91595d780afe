package forward_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hooklog/cmd/cli/forward"
	"hooklog/domain/event"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

const token = "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0fabcdef"

// message is what the log has of a call.
func message(t *testing.T, c event.Call) (m forward.Message) {
	t.Helper()
	own, err := secret.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	c.EventKey, c.TraceID, c.CorrelationID, c.Received = "webhook.a", "abcdef:k3v7qz2mna", "the-correlation-id", time.Unix(0, 0)
	if c.Method == "" {
		c.Method = http.MethodPost
	}
	text, err := event.Encode(&c, own)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestABodyIsAsItWasSent(t *testing.T) {
	for name, tc := range map[string]struct {
		payloadType       webhook.PayloadType
		contentType, body string
		unknownLength     bool
	}{
		"bytes":                                 {webhook.Base64, "application/octet-stream", "\x00\xff\n", false},
		"JSON with spaces, encoded":             {webhook.Base64, "application/json", " { \"a\" : 1 }\n", false},
		"JSON":                                  {webhook.Raw, "application/json", `{"a":1.50,"b":"<&>"}`, false},
		"a JSON string":                         {webhook.Raw, "application/json", `"text"`, false},
		"a JSON string of unknown length":       {webhook.Raw, "application/json", `"text"`, true},
		"a text":                                {webhook.Raw, "text/plain", "one\ntwo \"three\"", false},
		"a text that looks like JSON":           {webhook.Raw, "text/plain", `"text"`, false},
		"a text that says that it is JSON":      {webhook.Raw, "application/json", "no JSON", false},
		"JSON that looks as if it were encoded": {webhook.Raw, "application/json", `{"origin":"aGVsbG8="}`, false},
		"nothing":                               {webhook.Base64, "application/json", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := event.Call{PayloadType: tc.payloadType, ContentType: tc.contentType, Body: []byte(tc.body)}
			if !tc.unknownLength {
				c.Header = map[string][]string{"Content-Length": {itoa(len(tc.body))}}
			}
			got, contentType, err := message(t, c).Body()
			if err != nil || string(got) != tc.body || contentType != tc.contentType {
				t.Errorf("%q of %s, %v", got, contentType, err)
			}
		})
	}
}

func itoa(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func TestFilesAreBuiltTogetherAgain(t *testing.T) {
	for _, payloadType := range []webhook.PayloadType{webhook.Base64, webhook.Raw} {
		m := message(t, event.Call{PayloadType: payloadType, ContentType: "multipart/form-data; boundary=xyz", Files: []event.File{
			{Filename: `a "b".txt`, ContentType: "text/plain", Content: []byte("aGk=")}, {Filename: "ü.txt", Content: []byte("two\n")},
		}})
		body, contentType, err := m.Body()
		if err != nil {
			t.Fatal(err)
		}
		req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
		req.Header.Set("Content-Type", contentType)
		if err := req.ParseMultipartForm(1 << 20); err != nil || contentType != "multipart/form-data; boundary=xyz" {
			t.Fatal(contentType, err)
		}
		var got []string
		for _, header := range req.MultipartForm.File["file"] {
			file, err := header.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, _ := io.ReadAll(file)
			got = append(got, header.Filename+"|"+header.Header.Get("Content-Type")+"|"+string(content))
		}
		if strings.Join(got, "\n") != "a \"b\".txt|text/plain|aGk=\nü.txt||two\n" {
			t.Errorf("%s: %q", payloadType, got)
		}
	}
}

func TestACallIsSentOn(t *testing.T) {
	var got *http.Request
	var body []byte
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer program.Close()
	target, err := forward.NewTarget(program.URL + "/hooks?own=1")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := target.Send(t.Context(), message(t, event.Call{
		PayloadType: webhook.Base64, ContentType: "text/plain", Host: "hooks.example.org", Body: []byte("hello"),
		Header: map[string][]string{"Content-Type": {"text/plain"}, "X-Signature": {"abc"}, "Content-Length": {"5"}, "Token": {token}, "Expect": {"100-continue"}},
		Query:  map[string][]string{"a": {"1", "2"}, "token": {token}},
	}))
	if err != nil || answer.Status != http.StatusFound {
		t.Fatal(answer, err)
	}
	if got.Method != http.MethodPost || got.URL.String() != "/hooks?a=1&a=2&own=1" || string(body) != "hello" || got.ContentLength != 5 ||
		got.Header.Get("Content-Type") != "text/plain" || got.Header.Get("X-Signature") != "abc" || got.Header.Get("Token") != "" ||
		got.Header.Get("Svc-Trace-Id") != "abcdef:k3v7qz2mna" || got.Header.Get("Svc-Result-Correlationid") != "the-correlation-id" ||
		got.Host == "hooks.example.org" {
		t.Errorf("%s %s %s %v %q", got.Method, got.Host, got.URL, got.Header, body)
	}
}

func TestOnlyURLsOfProgramsAreTaken(t *testing.T) {
	for _, text := range []string{"", "3000", "/path", "ftp://a:the-password@b"} {
		if _, err := forward.NewTarget(text); err == nil || strings.Contains(err.Error(), "the-password") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if target, err := forward.NewTarget("http://a:the-password@b/"); err != nil || strings.Contains(target.String(), "the-password") {
		t.Error(target, err)
	}
}
