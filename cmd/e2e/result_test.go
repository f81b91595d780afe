package e2e_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func TestResultEndpoint(t *testing.T) {
	s := startOnOne(t)
	hook := s.put("eventKey=webhook.polled")
	a := s.call(hook.UUID, asText, "x").want(200)
	id := a.accepted()
	path := "/api/v3/result?svc-result-correlationid="

	t.Run("ready: 200 with the result JSON of the call, without authorization, as often as asked", func(t *testing.T) {
		s := s.in(t)
		for range 5 {
			for _, mode := range []string{"", "false"} {
				polled := s.poll(id, mode).want(200)
				if diff := cmp.Diff(string(a.body), string(polled.body)); diff != "" {
					t.Errorf("body (-called +polled):\n%s", diff)
				}
				for name, want := range map[string]string{"Content-Type": "application/json", "Cache-Control": "no-store", "Retry-After": "", "Location": ""} {
					if got := polled.header.Get(name); got != want {
						t.Errorf("header %s: %q, want %q", name, got, want)
					}
				}
			}
			var polled result
			s.poll(id, "true").want(200).json(&polled)
			if !polled.PollingRedirectEnabled || polled.Status != "ok" {
				t.Errorf("polled %+v", polled)
			}
		}
	})
	for name, query := range map[string]string{
		"without an id":                            "",
		"with two ids":                             id + "&svc-result-correlationid=" + uuid.NewString(),
		"with pollingRedirectEnabled=yes":          id + "&pollingRedirectEnabled=yes",
		"with an empty pollingRedirectEnabled":     id + "&pollingRedirectEnabled=",
		"with pollingRedirectEnabled of two kinds": id + "&pollingRedirectEnabled=true&pollingRedirectEnabled=false",
		"with a query that cannot be read":         id + "&a=%zz",
	} {
		t.Run("bad parameter: a poll "+name+": 400", func(t *testing.T) {
			wantProblem(t, s.in(t).send(http.MethodGet, path+query, nil), 400, false)
		})
	}
	t.Run("wrong method: 405 with Allow", func(t *testing.T) {
		for _, method := range []string{"POST", "HEAD", "DELETE"} {
			if got := s.in(t).send(method, path+id, nil).want(405).header.Get("Allow"); got != "GET" {
				t.Errorf("Allow: %q", got)
			}
		}
	})

	gone := func(t *testing.T, ids map[string]string) {
		s := s.in(t)
		unknown := s.poll(uuid.NewString(), "")
		wantProblem(t, unknown, 410, false)
		for name, id := range ids {
			for _, mode := range []string{"", "true", "false"} {
				t.Run("410, one identical body: "+name+", pollingRedirectEnabled="+mode, func(t *testing.T) {
					wantIdentical(t, unknown, s.in(t).poll(id, mode))
				})
			}
		}
	}
	gone(t, map[string]string{
		"unknown": uuid.NewString(), "malformed": "x", "malformed, in capitals": strings.ToUpper(id),
		"malformed, without hyphens": strings.ReplaceAll(id, "-", ""), "malformed, in braces": "{" + id + "}", "the nil UUID": nilUUID,
	})
	// From here on it is later.
	s.clock.forward(59 * time.Minute)
	s.poll(id, "").want(200)
	s.clock.forward(time.Minute)
	gone(t, map[string]string{"expired, 1 h after completion": id})
}

func TestAPollRightAfterTheCallIsNever410(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start()
		hook := s.put("eventKey=webhook.immediate")
		const calls = 200
		for range calls {
			called := s.called(hook.UUID, asText, "x")
			var polled result
			s.poll(called.CorrelationID, "").want(200).json(&polled)
			if polled.CorrelationID != called.CorrelationID || polled.TraceID != called.TraceID {
				t.Fatalf("called %+v, polled %+v", called, polled)
			}
		}
	})
}

func TestResultsOutliveTheProcess(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start()
		hook := s.put("eventKey=webhook.lasting")
		called := s.call(hook.UUID, asText, "x").want(200)
		check := func(when string) {
			t.Helper()
			if diff := cmp.Diff(string(called.body), string(s.poll(called.accepted(), "").want(200).body)); diff != "" {
				t.Errorf("%s (-called +polled):\n%s", when, diff)
			}
			s.poll(uuid.NewString(), "").want(410)
			s.called(hook.UUID, asText, "y")
		}
		s.restart()
		check("after a restart")

		s.stop()
		if err := os.RemoveAll(s.cfg.StateDir()); err != nil {
			t.Fatal(err)
		}
		s.start()
		check("after DIR/state was deleted")

		s.clock.forward(time.Hour)
		s.poll(called.accepted(), "").want(410)
		s.restart()
		s.poll(called.accepted(), "").want(410)
	})
}
