package verify_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hooklog/cmd/verify"
)

func TestReadCheckpoint(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/checkpoint":
			_, _ = w.Write([]byte("signed"))
		case "/elsewhere":
			http.Redirect(w, r, "/checkpoint", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	if text, err := verify.ReadCheckpoint(t.Context(), server.URL+"/checkpoint"); err != nil || string(text) != "signed" {
		t.Errorf("%q, %v", text, err)
	}
	for _, wrong := range []string{
		server.URL + "/missing?secret", server.URL + "/elsewhere", "http://example.org/checkpoint", "ftp://127.0.0.1/x",
		"http://127.0.0.1:1/checkpoint?secret",
	} {
		if text, err := verify.ReadCheckpoint(t.Context(), wrong); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s gives %q, %v", wrong, text, err)
		}
	}
}
