package client_test

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// webhook makes one and gives its token.
func (s *service) webhook(key string) string {
	s.t.Helper()
	return s.admin("webhook.put", url.Values{"eventKey": {key}}).text("uuid")
}

func TestATailShowsCallsAsTheyCome(t *testing.T) {
	s := start(t)
	token := s.webhook("webhook.tail")
	s.call(token, `"before"`)
	t.Run("from now on, as JSON lines, until Ctrl-C", func(t *testing.T) {
		tail := s.asAdmin(t).begin("webhook", "tail", "webhook.tail")
		tail.shows("waiting for calls of webhook.tail")
		trace := s.call(token, `"while"`).text("traceId")
		tail.shows(trace)
		e := tail.interrupt().want(0)
		if strings.Count(e.stdout, "\n") != 1 || !strings.HasPrefix(e.stdout, `{"traceId":"`+trace) || !strings.Contains(e.stdout, `"payload":{"origin":`) {
			t.Errorf("it shows %q", e.stdout)
		}
	})
	t.Run("from the start, for people", func(t *testing.T) {
		s.call(token, "first \x1b[2J line\nsecond")
		e := s.asAdmin(t).hooklog("webhook", "tail", token[30:], "--from-start", "--count", "3", "-o", "table").want(0)
		lines := strings.Split(e.stdout, "\n")
		if len(lines) != 4 || !strings.HasSuffix(lines[0], `POST  8 B       "before"`) || !strings.HasSuffix(lines[2], `first \u001b[2J line`) {
			t.Errorf("it shows %q", e.stdout)
		}
	})
	t.Run("over a restart of the service", func(t *testing.T) {
		tail := s.asAdmin(t).begin("webhook", "tail", "webhook.tail", "-o", "table")
		tail.shows("waiting for calls")
		s.stop()
		tail.shows("trying again until it answers")
		s.run()
		s.call(token, `"after the restart"`)
		tail.shows("after the restart")
		tail.shows(s.url + " answers again")
		if e := tail.interrupt().want(0); strings.Count(e.stdout, "\n") != 1 {
			t.Errorf("it shows %q", e.stdout)
		}
	})
	t.Run("not when it is refused", func(t *testing.T) {
		s.lister()
		sh := newShell(t, "HOOKLOG_URL="+s.url, "HOOKLOG_USER=alice", "HOOKLOG_PASSWORD="+adminPassword)
		if e := sh.hooklog("webhook", "tail", "webhook.tail").want(1); !strings.Contains(e.stderr, "Not allowed") {
			t.Errorf("it says %q", e.stderr)
		}
	})
}

func TestATokenIsRenewedInTheMiddleOfATail(t *testing.T) {
	s := start(t)
	token := s.webhook("webhook.tail")
	s.admin("user.put", url.Values{"username": {"alice"}, "password": {adminPassword}})
	s.admin("policy.put", url.Values{"name": {"alice"}, "users": {"alice"}, "commands": {"webhook.list,event.tail"}, "keys": {"*"}})
	sh := newShell(t)
	sh.fed(adminPassword, "login", "--url", s.url, "--user", "alice").want(0)
	before := sh.contexts()
	tail := sh.begin("webhook", "tail", "webhook.tail", "-o", "table")
	tail.shows("waiting for calls")
	for i, body := range []string{"one", "two", "three"} {
		s.call(token, body)
		tail.shows(body)
		if i == 0 { // once: two could meet one request, which is sent again once
			s.forward(6 * time.Minute)
		}
	}
	tail.interrupt().want(0)
	if sh.contexts() == before {
		t.Error("the token was not renewed")
	}
}
