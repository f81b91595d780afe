package httpapi_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hooklog/domain/webhook"
	"hooklog/transport/httpapi"
)

func TestFreshness(t *testing.T) {
	t.Run("a call is refused while the gates are not current", func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.stale = errors.New("broker-7 is away") })
		rec := w.post("text/plain", "x")
		wantStatus(t, rec, http.StatusServiceUnavailable)
		if rec.Header().Get("Retry-After") == "" || strings.Contains(rec.Body.String(), "broker-7") || len(w.journal.records) != 0 {
			t.Fatalf("%v %s, %d records", rec.Header(), rec.Body, len(w.journal.records))
		}
	})
	t.Run("a token is called unknown only after the gates have caught up", func(t *testing.T) {
		w := newWorld(t)
		w.fold = func(g gates) error {
			g.add(t, unknown, webhook.Gate{EventKey: "webhook.new", PayloadType: webhook.Base64, MaxPayloadLength: 10})
			return nil
		}
		r := newPost(receive, "text/plain", "x")
		r.Header.Set("Token", unknown)
		wantStatus(t, w.do(r), http.StatusOK)
	})
	t.Run("and is not called unknown when they cannot", func(t *testing.T) {
		w := newWorld(t)
		w.fold = func(gates) error { return errors.New("broker-7 is away") }
		r := newPost(receive, "text/plain", "x")
		r.Header.Set("Token", unknown)
		wantStatus(t, w.do(r), http.StatusServiceUnavailable)
	})
	t.Run("who hangs up meanwhile is no failure", func(t *testing.T) {
		w := newWorld(t)
		ctx, hangUp := context.WithCancel(t.Context())
		w.fold = func(gates) error { hangUp(); return ctx.Err() }
		r := newPost(receive, "text/plain", "x").WithContext(ctx)
		r.Header.Set("Token", unknown)
		w.do(r)
		if got := w.log.String(); got != "" {
			t.Errorf("logged %s", got)
		}
	})
	t.Run("what is no token is unknown at once", func(t *testing.T) {
		w := newWorld(t)
		w.fold = func(gates) error { t.Error("the log was asked"); return nil }
		r := newPost(receive, "text/plain", "x")
		r.Header.Set("Token", "no token")
		wantStatus(t, w.do(r), http.StatusNotFound)
	})
}

func TestUnable(t *testing.T) {
	reason := errors.New("broker-7 is away")
	logs := &buffer{}
	get := func(operators bool, path string) *httptest.ResponseRecorder {
		var metrics http.Handler
		if operators {
			metrics = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
		}
		h := httpapi.Unable(slog.New(slog.NewTextHandler(logs, nil)), func() error { return reason }, metrics)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		return rec
	}
	for _, operators := range []bool{false, true} {
		wantStatus(t, get(operators, "/healthz"), http.StatusOK)
		ready := get(operators, "/readyz")
		wantStatus(t, ready, http.StatusServiceUnavailable)
		if strings.Contains(ready.Body.String(), reason.Error()) != operators {
			t.Errorf("operators %v are told %s", operators, ready.Body)
		}
	}
	wantStatus(t, get(true, "/metrics"), http.StatusOK)
	for _, path := range []string{"/", "/metrics", receive + "?token=" + token, "//x"} {
		rec := get(false, path)
		wantStatus(t, rec, http.StatusServiceUnavailable)
		if rec.Header().Get("Retry-After") == "" || strings.Contains(rec.Body.String(), token) {
			t.Errorf("%s: %v %s", path, rec.Header(), rec.Body)
		}
	}
	if logs.String() != "" {
		t.Errorf("each request is logged: %s", logs.String())
	}
}
