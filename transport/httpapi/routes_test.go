package httpapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hooklog/domain/fault"
)

func TestUnknownPaths(t *testing.T) {
	w := newWorld(t)
	for target, instance := range map[string]string{
		"/":                                   "/",
		"/api/v3/command":                     "/",
		"/api/v3/command/":                    "/",
		"/api/v3/command/webhook.peel":        "/api/v3/command",
		"/api/v3/command/" + token:            "/api/v3/command",
		"/api/v3/command/" + token + "/more":  "/",
		"//api/v3/command/webhook.receive":    "/",
		"/api//v3/command/webhook.receive":    "/",
		"/api/v3/../v3/result":                "/",
		"/api/v3/command/webhook.receive/":    "/",
		"/api/v3/command/%2e%2e/" + token:     "/",
		"/debug/pprof/":                       "/",
		"/api/v3/command/webhook.receive%2fx": "/",
	} {
		t.Run(target, func(t *testing.T) {
			rec := w.do(httptest.NewRequest(http.MethodPost, "http://host"+target+"?token="+token, nil))
			document := wantProblem(t, rec, fault.NotFound)
			if document["instance"] != instance {
				t.Errorf("instance %v, want %s", document["instance"], instance)
			}
			if strings.Contains(rec.Body.String(), token) || rec.Header().Get("Location") != "" {
				t.Errorf("the answer repeats the request: %v %s", rec.Header(), rec.Body)
			}
		})
	}
	if w.log.String() != "" {
		t.Errorf("log %s", w.log)
	}
}

func TestWrongMethods(t *testing.T) {
	w := newWorld(t)
	for target, c := range map[string]struct {
		allow string
		wrong []string
	}{
		receive:                          {"GET, POST", []string{"HEAD", "PUT", "OPTIONS", "DELETE"}},
		put:                              {"POST", []string{"GET", "HEAD", "PUT"}},
		get:                              {"GET, POST", []string{"HEAD", "PATCH"}},
		list:                             {"GET, POST", []string{"HEAD", "PUT"}},
		result:                           {"GET", []string{"HEAD", "POST"}},
		"/healthz":                       {"GET, HEAD", []string{"POST"}},
		"/readyz":                        {"GET, HEAD", []string{"POST", "OPTIONS"}},
		"/api/v3/command/webhook.delete": {"POST", []string{"GET", "DELETE"}},
	} {
		for _, method := range c.wrong {
			t.Run(method+" "+target, func(t *testing.T) {
				rec := w.do(httptest.NewRequest(method, target+"?token="+token, nil))
				if document := wantProblem(t, rec, fault.MethodNotAllowed); document["instance"] != target {
					t.Errorf("document %v", document)
				}
				if got := rec.Header().Get("Allow"); got != c.allow {
					t.Errorf("Allow %q, want %q", got, c.allow)
				}
			})
		}
	}
}

func TestPanics(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		shown string
	}{
		"of the runtime are logged":             {runtimeError(), "index out of range"},
		"of others are logged without the text": {"the token is " + token, "handler panicked"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.results.panicked = c.value
			rec := w.get(poll)
			wantProblem(t, rec, fault.Internal)
			log := w.log.String()
			if !strings.Contains(log, c.shown) || !strings.Contains(log, "result.go") {
				t.Errorf("the log has not the panic and its stack: %s", log)
			}
			if strings.Contains(log, token) || strings.Contains(log, id) || strings.Contains(rec.Body.String(), "result.go") {
				t.Errorf("the log has request data or the answer the stack: %s %s", log, rec.Body)
			}
		})
	}
	t.Run("that abort the answer go on", func(t *testing.T) {
		w := newWorld(t)
		w.results.panicked = http.ErrAbortHandler
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
				t.Errorf("recovered %v", err)
			}
		}()
		w.get(poll)
	})
}

func runtimeError() (value any) {
	defer func() { value = recover() }()
	return []int{}[len(receive)]
}

func TestHealth(t *testing.T) {
	w := newWorld(t)
	w.ready = errors.New("the fold of svc.command is behind")
	ops := w.api.OpsHandler()
	for _, c := range []struct {
		name    string
		handler http.Handler
		target  string
		ready   error
		status  int
		body    string
	}{
		{"the process is healthy before it is ready", w.handler, "/healthz", w.ready, 200, `{"status":"ok"}`},
		{"the ops listener says so, too", ops, "/healthz", w.ready, 200, `{"status":"ok"}`},
		{"a ready service", w.handler, "/readyz", nil, 200, `{"status":"ready"}`},
		{"a ready service on the ops listener", ops, "/readyz", nil, 200, `{"status":"ready"}`},
		{"a service that is not ready hides why", w.handler, "/readyz", w.ready, 503, "The service is not ready."},
		{"and tells its operators", ops, "/readyz", w.ready, 503, w.ready.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.ready = c.ready
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				rec := httptest.NewRecorder()
				c.handler.ServeHTTP(rec, httptest.NewRequest(method, c.target, nil))
				wantStatus(t, rec, c.status)
				if !strings.Contains(rec.Body.String(), c.body) {
					t.Errorf("%s: body %s", method, rec.Body)
				}
				if (c.status == 503) != (rec.Header().Get("Retry-After") != "") {
					t.Errorf("%s: headers %v", method, rec.Header())
				}
			}
		})
	}
	if w.log.String() != "" {
		t.Errorf("probes are logged: %s", w.log)
	}
}

func TestProfilesAreForOperators(t *testing.T) {
	ops := newWorld(t).api.OpsHandler()
	for _, target := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline", "/debug/pprof/symbol"} {
		rec := httptest.NewRecorder()
		ops.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, target, nil))
		if rec.Code != http.StatusOK || rec.Body.Len() == 0 {
			t.Errorf("%s: status %d", target, rec.Code)
		}
	}
	rec := httptest.NewRecorder()
	ops.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, receive, nil))
	wantProblem(t, rec, fault.NotFound)
}
