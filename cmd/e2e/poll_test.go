package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPollModes(t *testing.T) {
	s := startOnBrokers(t)
	t.Run("pollingRedirectEnabled absent: not ready gives 302 at once; its Location carries true", func(t *testing.T) {
		s := s.in(t)
		c := s.slow("a@1")
		a := s.poll(c.id, "").want(302)
		if got := a.header.Get("Location"); got != c.location() {
			t.Errorf("Location %q, want %q", got, c.location())
		}
		if got := a.header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control %q", got)
		}
	})
	t.Run("false: not ready gives 200 with the processing result JSON and Retry-After; no redirect", func(t *testing.T) {
		s := s.in(t)
		c := s.slow("a@1")
		a := s.poll(c.id, "false").want(200)
		if diff := cmp.Diff(c.json(200, "processing", "null", false), string(a.body)); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if a.header.Get("Retry-After") != "5" || a.header.Get("Location") != "" {
			t.Errorf("header %v", a.header)
		}
	})
	t.Run("the next poll must come 5 s later; early polls give 429 and double the wait up to 60 s; patient ones halve it", func(t *testing.T) {
		s := s.in(t)
		c := s.slow("a@1")
		poll := func(later time.Duration, mode string, status int, retryAfter string) {
			t.Helper()
			s.clock.forward(later)
			a := s.poll(c.id, mode)
			if a.status != status || a.header.Get("Retry-After") != retryAfter {
				t.Fatalf("answered %d with Retry-After %q, want %d with %q", a.status, a.header.Get("Retry-After"), status, retryAfter)
			}
			if status == 429 {
				wantProblem(t, a, 429, false)
			}
		}
		poll(0, "", 302, "")
		poll(5*time.Second, "false", 200, "5")
		for i, wait := range strings.Fields("10 20 40 60 60") {
			poll(0, []string{"", "false"}[i%2], 429, wait)
		}
		poll(30*time.Second, "false", 429, "60") // it counts from the last poll
		poll(60*time.Second, "false", 200, "30")
		poll(10*time.Second, "", 429, "60")
		poll(60*time.Second, "false", 200, "30")
		poll(30*time.Second, "false", 200, "15")
		poll(15*time.Second, "false", 200, "8") // 7.5 s
		poll(8*time.Second, "", 302, "")
		poll(5*time.Second, "false", 200, "5")
		poll(0, "", 429, "10")

		t.Run("another id has a pace of its own", func(t *testing.T) {
			s.in(t).poll(s.slow("a@1").id, "").want(302)
		})
		t.Run("a ready result is answered at once", func(t *testing.T) {
			c.done("a@1", 1, "1")
			s.folded()
			for range 3 {
				s.in(t).poll(c.id, "").want(200)
			}
		})
	})
}
