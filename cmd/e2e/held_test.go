package e2e_test

import (
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/cmd/settings"
)

// holdFor sets how long redirecting polls are held.
func holdFor(d time.Duration) option {
	return func(c *settings.Config) { c.PollHold = d }
}

// held is a poll whose answer is awaited.
type held struct {
	t      *testing.T
	answer chan answer
}

// hold polls with pollingRedirectEnabled=true and returns when the service holds
// as many polls as it should then.
func (s *service) hold(id string, together int) held {
	s.t.Helper()
	h := held{s.t, make(chan answer, 1)}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet,
		s.app.BaseURL()+"/api/v3/result?pollingRedirectEnabled=true&svc-result-correlationid="+id, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(h.answer)
		resp, err := s.http.Do(req)
		if err != nil {
			h.t.Error(err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			h.t.Error(err)
			return
		}
		h.answer <- answer{h.t, resp.StatusCode, resp.Header, body}
	}()
	eventually(s.t, "the poll is held", func() bool { return s.holding() == together })
	return h
}

// holding is how many polls are held, as operators see it in the profile.
func (s *service) holding() int {
	s.t.Helper()
	profile := s.send(http.MethodGet, "http://"+s.app.OpsAddr().String()+"/debug/pprof/goroutine?debug=2", nil).want(http.StatusOK)
	return strings.Count(string(profile.body), "httpapi.(*API).await(")
}

// released waits for the answer.
func (h held) released() answer {
	h.t.Helper()
	a, ok := <-h.answer
	if !ok {
		h.t.Fatal("the poll was not answered")
	}
	return a
}

// wantHeld fails the test if there is an answer already.
func (h held) wantHeld() {
	h.t.Helper()
	select {
	case a := <-h.answer:
		h.t.Fatalf("answered %d %s, but should be held", a.status, a.body)
	default:
	}
}

func wantRedirect(t *testing.T, a answer, c *slow) {
	t.Helper()
	if a.status != http.StatusFound || a.header.Get("Location") != c.location() {
		t.Errorf("answered %d with Location %q, want 302 with %q", a.status, a.header.Get("Location"), c.location())
	}
}

func wantResult(t *testing.T, a answer, want string) {
	t.Helper()
	if diff := cmp.Diff(want, string(a.want(http.StatusOK).body)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestHeldPolls(t *testing.T) {
	// Longer than a client waits here: what is answered was released.
	s := startOnBrokers(t, holdFor(2*patience))

	t.Run("true: the server holds the request until the result is ready", func(t *testing.T) {
		s := s.in(t)
		c := s.slow("a@1", "b@1")
		h := s.hold(c.id, 1)
		c.done("a@1", 1, "1")
		s.folded()
		h.wantHeld()
		c.done("b@1", 1, "2")
		wantResult(t, h.released(), c.json(200, "ok", `{"a":1,"b":2}`, true))
	})
	t.Run("it is never answered 429, and a failure is a result too", func(t *testing.T) {
		s := s.in(t)
		c := s.slow("a@1")
		s.poll(c.id, "").want(302)
		s.poll(c.id, "").want(429)
		h := s.hold(c.id, 1)
		h.wantHeld()
		c.failed("a@1", 1)
		wantResult(t, h.released(), c.json(500, "error", c.problem(), true))
	})
	t.Run("at most two held per id, the older is released with 302", func(t *testing.T) {
		s := s.in(t)
		c, other := s.slow("a@1"), s.slow("a@1")
		untouched := s.hold(other.id, 1)
		first, second := s.hold(c.id, 2), s.hold(c.id, 3)
		third := s.hold(c.id, 3)
		wantRedirect(t, first.released(), c)
		second.wantHeld()
		fourth := s.hold(c.id, 3)
		wantRedirect(t, second.released(), c)
		third.wantHeld()
		c.done("a@1", 1, "1")
		for _, h := range []held{third, fourth} {
			wantResult(t, h.released(), c.json(200, "ok", "1", true))
		}
		untouched.wantHeld()
		other.done("a@1", 1, "2")
		wantResult(t, untouched.released(), other.json(200, "ok", "2", true))
	})
	t.Run("drain releases all", func(t *testing.T) {
		one, two := s.slow("a@1"), s.slow("a@1")
		first, second, third := s.hold(one.id, 1), s.hold(one.id, 2), s.hold(two.id, 3)
		toOne, toTwo := one.location(), two.location()
		s.stop()
		for h, location := range map[held]string{first: toOne, second: toOne, third: toTwo} {
			if got := h.released().want(302).header.Get("Location"); got != location {
				t.Errorf("Location %q, want %q", got, location)
			}
		}
	})
}

func TestFollowedRedirects(t *testing.T) {
	s := startOnBrokers(t, holdFor(200*time.Millisecond))

	t.Run("not ready when the hold is over: 302, and never 429", func(t *testing.T) {
		s := s.in(t)
		c := s.slow("a@1")
		for range 3 {
			wantRedirect(t, s.poll(c.id, "true"), c)
		}
	})
	// Both begin with a poll that is not held, and are sent round more than once.
	const rounds = 3
	t.Run("curl -L on a slow result ends with 200 and never meets 429", func(t *testing.T) {
		curl, err := exec.LookPath("curl")
		if err != nil {
			t.Skip("there is no curl")
		}
		s := s.in(t)
		c := s.slow("a@1")
		var body, headers buffer
		cmd := exec.CommandContext(t.Context(), curl, "-q", "-sS", "-L", "-v", "--noproxy", "*", strings.TrimSuffix(c.location(), "&pollingRedirectEnabled=true"))
		cmd.Stdout, cmd.Stderr = &body, &headers
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		statuses := func() []string {
			return regexp.MustCompile(`(?m)^< HTTP/1\.1 (\d+)`).FindAllString(headers.String(), -1)
		}
		eventually(t, "curl is sent round", func() bool { return len(statuses()) >= rounds })
		c.done("a@1", 1, `"late"`)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, &headers)
		}
		all := statuses()
		for i, status := range all {
			if last := i == len(all)-1; strings.HasSuffix(status, " 302") == last || strings.HasSuffix(status, " 200") != last {
				t.Errorf("answers %v, want 302 up to the last, 200", all)
			}
		}
		if want := c.json(200, "ok", `"late"`, true); body.String() != want {
			t.Errorf("body %s, want %s", &body, want)
		}
	})
	t.Run("so does every client that follows redirects", func(t *testing.T) {
		s := s.in(t)
		c := s.slow("a@1")
		s.http = newClient()
		defer s.http.CloseIdleConnections()
		s.http.CheckRedirect = func(req *http.Request, via []*http.Request) error {
			if req.Response.StatusCode != http.StatusFound {
				t.Errorf("sent round with %d", req.Response.StatusCode)
			}
			if len(via) == rounds {
				c.done("a@1", 1, `"late"`)
			}
			return nil
		}
		wantResult(t, s.poll(c.id, ""), c.json(200, "ok", `"late"`, true))
	})
}
