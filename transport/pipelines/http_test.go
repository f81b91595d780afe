package pipelines_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hooklog/domain/fault"
	"hooklog/transport/pipelines"
	"hooklog/transport/pipelines/outbound"
)

func TestHTTPRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/problem+json; charset=utf-8")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"n":1.50}`)
		case "/broken":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"n":`)
		case "/bytes":
			_, _ = w.Write([]byte{0xff})
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Content-Type", "text/plain")
			_, _ = fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Header.Get("Content-Type"), r.Header.Get("X-Key"), body)
		}
	}))
	defer server.Close()
	client, err := outbound.New(outbound.Config{Hosts: []string{strings.TrimPrefix(server.URL, "http://")}, Loopback: true, Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s := &steps{do: func(ctx context.Context, call pipelines.StepCall) (any, error) {
		return pipelines.DoHTTPRequest(ctx, client, call)
	}}
	tests := []struct {
		name   string
		params string
		result string
		want   string
	}{
		{"a text", "", "${body.body}", `"GET   "`},
		{"its status and headers", "", "${[body.status, body.headers['content-type']]}", `[200,"text/plain"]`},
		{"a text that is sent", ", method: PUT, body: hü", "${body.body}", `"PUT text/plain; charset=utf-8  hü"`},
		{"a value that is sent", ", method: POST, body: {a: ['${body}', '<']}", "${body.body}", `"POST application/json  {\"a\":[\"in\",\"<\"]}"`},
		{"bytes that are sent", ", method: POST, body: '${convert.fromBase64(\"/w==\")}'", "${convert.toBase64(body.body)}", `"UE9TVCBhcHBsaWNhdGlvbi9vY3RldC1zdHJlYW0gIP8="`},
		{"headers that are sent", ", method: POST, headers: {content-type: a/b, X-Key: '${body}'}, body: ''", "${body.body}", `"POST a/b in "`},
		{"JSON, whatever the status", "/json", "${[body.status, body.body]}", `[409,{"n":1.50}]`},
		{"what says that it is JSON", "/broken", "${body.body}", `"{\"n\":"`},
		{"bytes", "/bytes", "${body.body}", `"/w=="`},
		{"nothing", "/nothing", "${[body.status, body.body]}", `[204,null]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, params := tt.params, ""
			if strings.HasPrefix(tt.params, ",") {
				path, params = "/", tt.params
			}
			source := fmt.Sprintf("pipeline:\n  - http.request: {url: '%s%s'%s}\nbody: %q", server.URL, path, params, tt.result)
			out, err := compile(t, source).Run(t.Context(), aRun(t, `"in"`), s)
			if string(out.Value) != tt.want || err != nil {
				t.Errorf("%s, %v", out.Value, err)
			}
		})
	}
	_, err = compile(t, "pipeline: [http.request: {url: 'http://127.0.0.1:1/', headers: {a: '${1}'}}]").Run(t.Context(), aRun(t, `null`), s)
	if got := fault.From(err).Detail; got != "Step 1 (http.request) at 1:12: the header a must be a text" {
		t.Error(got)
	}
	_, err = compile(t, "pipeline: [http.request: {url: 'https://other.example/'}]").Run(t.Context(), aRun(t, `null`), s)
	if !fault.Is(err, fault.Forbidden) {
		t.Error(err)
	}
}
