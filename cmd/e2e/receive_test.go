package e2e_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestReceiveErrors(t *testing.T) {
	s := startOnOne(t)
	id := s.put("eventKey=webhook.errors").UUID
	tests := []struct {
		name   string
		call   request
		status int
	}{
		{"a bad parameter, pollingRedirectEnabled=yes: 400", request{query: "pollingRedirectEnabled=yes"}, 400},
		{"a bad parameter, pollingRedirectEnabled=TRUE: 400", request{query: "pollingRedirectEnabled=TRUE"}, 400},
		{"a bad parameter, pollingRedirectEnabled=1: 400", request{query: "pollingRedirectEnabled=1"}, 400},
		{"a bad parameter, pollingRedirectEnabled empty: 400", request{query: "pollingRedirectEnabled="}, 400},
		{"a bad parameter, pollingRedirectEnabled of two minds: 400", request{query: "pollingRedirectEnabled=true&pollingRedirectEnabled=false"}, 400},
		{"a query that cannot be read: 400", request{query: "a=%zz"}, 400},
		{"any Content-Encoding, gzip: 415", request{header: map[string][]string{"Content-Encoding": {"gzip"}}, body: "x"}, 415},
		{"any Content-Encoding, identity: 415", request{header: map[string][]string{"Content-Encoding": {"identity"}}, body: "x"}, 415},
		{"any Content-Encoding, without a body: 415", request{header: map[string][]string{"Content-Encoding": {"br"}}}, 415},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			header := map[string][]string{"token": {id}}
			for k, v := range tt.call.header {
				header[k] = v
			}
			tt.call.header = header
			a := s.in(t).receive(tt.call)
			document := wantProblem(t, a, tt.status, true)
			if document["instance"] != receivePath {
				t.Errorf("instance %v", document["instance"])
			}
			if got := a.header.Get("Svc-Result-Correlationid"); got != "" {
				t.Errorf("a refused call has the correlation id %s", got)
			}
		})
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"} {
		t.Run("wrong method "+method+": 405 with Allow", func(t *testing.T) {
			a := s.in(t).receive(request{method: method, header: map[string][]string{"token": {id}}}).want(405)
			if got := a.header.Get("Allow"); got != "GET, POST" {
				t.Errorf("Allow: %q", got)
			}
		})
	}
	if n := len(s.events("webhook.errors")); n != 0 {
		t.Errorf("%d events of refused calls", n)
	}
}

func TestUncleanPaths(t *testing.T) {
	s := startOnOne(t)
	id := s.put("eventKey=webhook.paths").UUID
	for _, path := range []string{
		"//api/v3/command/webhook.receive",
		"/api/v3//command/webhook.receive",
		"/api/v3/./command/webhook.receive",
		"/api/../api/v3/command/webhook.receive",
		"/api/v3/command/webhook.receive/",
		"/api/v3/command/" + id,
	} {
		t.Run("no cleaning redirect that would repeat the query: "+strings.ReplaceAll(path, id, "<token>"), func(t *testing.T) {
			a := s.in(t).dial("GET " + path + "?token=" + id + " HTTP/1.1\r\nHost: hooklog\r\nConnection: close\r\n\r\n")
			if a.status != 404 || a.header.Get("Location") != "" {
				t.Errorf("answered %d with Location %q", a.status, a.header.Get("Location"))
			}
			if strings.Contains(string(a.body), id) {
				t.Errorf("the answer repeats the token: %s", a.body)
			}
		})
	}
}

func TestPollingRedirectOnReceive(t *testing.T) {
	s := startOnOne(t)
	hook := s.put("eventKey=webhook.redirected")

	t.Run("true: 302 to the result endpoint, with the same headers, and the call is on the log", func(t *testing.T) {
		s := s.in(t)
		a := s.send(http.MethodPost, hook.WebhookURL+"&pollingRedirectEnabled=true", strings.NewReader("x")).want(302)
		id, traceID := a.header.Get("Svc-Result-Correlationid"), a.header.Get("Svc-Trace-Id")
		location := a.header.Get("Location")
		if want := s.app.BaseURL() + "/api/v3/result?svc-result-correlationid=" + id + "&pollingRedirectEnabled=true"; location != want {
			t.Errorf("Location %q, want %q", location, want)
		}
		if got := a.header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control %q", got)
		}
		if got := s.message("webhook.redirected", id).TraceID; got != traceID {
			t.Errorf("trace id %q in the message, %q in the answer", got, traceID)
		}
		var polled result
		s.send(http.MethodGet, location, nil).want(200).json(&polled)
		if polled.CorrelationID != id || polled.TraceID != traceID || polled.Status != "ok" || !polled.PollingRedirectEnabled {
			t.Errorf("polled %+v", polled)
		}
	})
	t.Run("false, or absent: 200 with the result JSON", func(t *testing.T) {
		s := s.in(t)
		for _, query := range []string{"&pollingRedirectEnabled=false", ""} {
			var r result
			s.send(http.MethodPost, hook.WebhookURL+query, strings.NewReader("x")).want(200).json(&r)
			if r.PollingRedirectEnabled {
				t.Errorf("with %q: %+v", query, r)
			}
		}
	})
}
