package client_test

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/client"
)

// serve answers with a handler and gives a client of it.
func serve(t *testing.T, credentials client.Credentials, handle http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{BaseURL: server.URL + "/", Credentials: credentials})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestACommandIsAFormWithCredentials(t *testing.T) {
	c := serve(t, client.Basic{User: "alice", Password: secret.NewPassword("p:ä")}, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.Method != http.MethodPost || r.URL.Path != "/api/v3/command/webhook.put" || r.URL.RawQuery != "" ||
			user != "alice" || password != "p:ä" || r.Header.Get("Idempotency-Key") != "once" || r.FormValue("eventKey") != "a=b" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		_, _ = w.Write([]byte(`{"done":true}`))
	})
	answer, err := c.Command(t.Context(), client.Call{
		Name: "webhook.put", Params: url.Values{"eventKey": {"a=b"}}, IdempotencyKey: "once",
	})
	if err != nil || string(answer) != `{"done":true}` {
		t.Errorf("%s %v", answer, err)
	}
}

func TestAProblemIsARefusal(t *testing.T) {
	for name, tc := range map[string]struct {
		status      int
		contentType string
		body        string
		want        client.Refusal
	}{
		"of the service": {
			409, "application/problem+json", `{"title":"Conflict","detail":"It is taken.","traceId":"abcdef:x","hint":"Take another."}`,
			client.Refusal{Kind: fault.Conflict, Title: "Conflict", Detail: "It is taken.", TraceID: "abcdef:x", Hint: "Take another.", RetryAfter: 3 * time.Second},
		},
		"of a proxy": {
			502, "text/html", `<html>secret page</html>`,
			client.Refusal{Kind: fault.Unavailable, Title: fault.Unavailable.Title(), Detail: "The answer was 502 Bad Gateway.", RetryAfter: 3 * time.Second},
		},
		"that cannot be read": {
			403, "application/problem+json", `{"title":`,
			client.Refusal{Kind: fault.Forbidden, Title: fault.Forbidden.Title(), RetryAfter: 3 * time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, nil, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.contentType)
				w.Header().Set("Retry-After", "3")
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			})
			_, err := c.Command(t.Context(), client.Call{Name: "x"})
			var refusal *client.Refusal
			if !errors.As(err, &refusal) || *refusal != tc.want {
				t.Errorf("%+v", err)
			}
		})
	}
}

// renewing knows something better when its first value is refused.
type renewing struct{ asked []string }

func (r *renewing) Authorization(_ context.Context, refused string) (string, error) {
	r.asked = append(r.asked, refused)
	if refused == "" {
		return "Bearer old", nil
	}
	return "Bearer new", nil
}

func TestWhatIsRefusedForItsCredentialsIsSentOnceMore(t *testing.T) {
	requests := 0
	accept := "Bearer new"
	handle := func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.Header.Get("Authorization") != accept || r.FormValue("a") != "b" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("1"))
	}
	call := client.Call{Name: "x", Params: url.Values{"a": {"b"}}}
	t.Run("with better ones", func(t *testing.T) {
		who := &renewing{}
		if _, err := serve(t, who, handle).Command(t.Context(), call); err != nil || requests != 2 || len(who.asked) != 2 || who.asked[1] != "Bearer old" {
			t.Errorf("%v after %d requests, asked with %q", err, requests, who.asked)
		}
	})
	t.Run("not a third time", func(t *testing.T) {
		requests, accept = 0, "Bearer other"
		if _, err := serve(t, &renewing{}, handle).Command(t.Context(), call); err == nil || requests != 2 {
			t.Errorf("%v after %d requests", err, requests)
		}
	})
	t.Run("not with the same ones", func(t *testing.T) {
		requests = 0
		_, err := serve(t, client.Bearer{Token: secret.NewPassword("fixed")}, handle).Command(t.Context(), call)
		if err == nil || requests != 1 || strings.Contains(err.Error(), "fixed") {
			t.Errorf("%v after %d requests", err, requests)
		}
	})
}

func TestAResultIsWaitedForAsLongAsTheServiceHolds(t *testing.T) {
	polls := 0
	c := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		polls++
		if got := r.URL.Query(); got.Get("svc-result-correlationid") != "id" || got.Get("pollingRedirectEnabled") != "true" {
			t.Errorf("polled with %v", got)
		}
		if polls < 3 {
			w.Header().Set("Location", "https://elsewhere.example.org/api/v3/result?a=b")
			w.WriteHeader(http.StatusFound)
			return
		}
		_, _ = w.Write([]byte(`{"status":"ok"}`))
	})
	if answer, err := c.Wait(t.Context(), "id"); err != nil || string(answer) != `{"status":"ok"}` || polls != 3 {
		t.Errorf("%s %v after %d polls", answer, err, polls)
	}
}

func TestAServiceThatDoesNotHoldIsAskedNowAndThen(t *testing.T) {
	polls := 0
	c := serve(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		polls++
		w.Header().Set("Location", "/api/v3/result")
		w.WriteHeader(http.StatusFound)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	if _, err := c.Wait(ctx, "id"); !errors.Is(err, context.DeadlineExceeded) || polls > 3 {
		t.Errorf("%v after %d polls", err, polls)
	}
}

func TestALogInPageOfAProxyIsNotWaitedFor(t *testing.T) {
	c := serve(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://login.example.org/")
		w.WriteHeader(http.StatusFound)
	})
	if _, err := c.Wait(t.Context(), "id"); err == nil || !strings.Contains(err.Error(), "is it the right URL?") {
		t.Error(err)
	}
}

func TestNoAnswerIsAnErrorOfItsOwn(t *testing.T) {
	c, err := client.New(client.Config{BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Result(t.Context(), "the-correlation-id")
	var away *client.Unreachable
	if !errors.As(err, &away) || away.Sent || strings.Contains(err.Error(), "the-correlation-id") {
		t.Errorf("%+v", err)
	}
}

func TestOnlyPlainURLsAreTaken(t *testing.T) {
	for _, text := range []string{"", "hooks", "ftp://hooks", "http://", "http://admin:the-password@hooks", "http://hooks?token=the-password", "http://hooks?"} {
		if got, err := client.CheckURL(text); err == nil || strings.Contains(err.Error(), "the-password") {
			t.Errorf("%q gives %q, %v", text, got, err)
		}
	}
	if got, err := client.CheckURL("https://hooks.example.org/below/"); err != nil || got != "https://hooks.example.org/below" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAFileNamesTheCertificatesToTrust(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("1")) }))
	defer server.Close()
	server.Config.ErrorLog = nil
	path := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for ca, want := range map[string]bool{path: true, "": false} {
		c, err := client.New(client.Config{BaseURL: server.URL, CAFile: ca})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Command(t.Context(), client.Call{Name: "x"}); (err == nil) != want {
			t.Errorf("with %q: %v", ca, err)
		}
	}
	if _, err := client.New(client.Config{BaseURL: server.URL, CAFile: "client_test.go"}); err == nil {
		t.Error("a file without certificates was taken")
	}
}
