package client_test

import (
	"bytes"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"hooklog/domain/secret"
)

// through puts something between the client and the service.
func (s *service) through(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, service http.Handler)) string {
	t.Helper()
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	service := httputil.NewSingleHostReverseProxy(target)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, service) }))
	t.Cleanup(between.Close)
	return between.URL
}

// cut ends a connection without a word.
func cut(w http.ResponseWriter) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func TestValuesComeThroughAsTheyAre(t *testing.T) {
	s := start(t)
	sh := s.asAdmin(t)
	t.Run("a value that contains =", func(t *testing.T) {
		s.admin("pipeline.put", url.Values{"name": {"echo"}, "body": {"pipeline:\n  - set: {value: \"${body}\"}\n"}})
		for _, value := range []string{`"a=b==c&d=%20+ü"`, `{"q":"x=1&y=:=2"}`} {
			if e := sh.hooklog("command", "pipeline.run", "name=echo", "body="+value).want(0); strings.Join(strings.Fields(e.stdout), "") != strings.ReplaceAll(value, " ", "") {
				t.Errorf("%s came back as %s", value, e.stdout)
			}
		}
	})
	t.Run("a file of 4 MB as the payload of a call", func(t *testing.T) {
		sh.hooklog("webhook", "create", "webhook.large", "--max-payload-length", "4194304").want(0)
		content := bytes.Repeat([]byte("0123456789abcde\x00"), 4194304/16)
		sh.write("large", string(content))
		result := sh.hooklog("webhook", "test", "webhook.large", "--data", "@large").want(0).object()
		if result["status"] != "ok" {
			t.Errorf("the result is %v", result)
		}
		s.admin("pipeline.put", url.Values{"name": {"newest"}, "body": {"pipeline:\n  - event.receive: {eventKey: webhook.large}\nbody: ${size(body.payload.origin)}\n"}})
		if e := sh.hooklog("pipeline", "run", "newest").want(0); strings.TrimSpace(e.stdout) != "5592408" {
			t.Errorf("%s characters of base64 arrived, not %d", e.stdout, base64.StdEncoding.EncodedLen(len(content)))
		}
	})
	t.Run("a file of 4 MB that the service does not take", func(t *testing.T) {
		sh.write("large.yaml", strings.Repeat("# 456789abcdef\n\n", 4194304/16))
		e := sh.hooklog("command", "pipeline.put", "name=large", "body=@large.yaml").want(1)
		if !strings.Contains(e.stderr, "Payload too large") || strings.Count(e.stderr, "\n") != 1 {
			t.Errorf("it says %q", e.stderr)
		}
	})
	t.Run("the standard input, once", func(t *testing.T) {
		sh.fed("pipeline: [set: {value: 1}]", "command", "pipeline.put", "name=fed", "body=@-").want(0)
		e := sh.fed("x", "command", "pipeline.put", "name=@-", "body=@-").want(2)
		if !strings.Contains(e.stderr, "only once") {
			t.Errorf("it says %q", e.stderr)
		}
	})
}

func TestABrokenConnectionIsToldAndExitsWithFour(t *testing.T) {
	s := start(t)
	t.Run("nobody listens", func(t *testing.T) {
		closed, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := closed.Addr().String()
		_ = closed.Close()
		e := newShell(t, "HOOKLOG_URL=http://"+address, "HOOKLOG_TOKEN=x").hooklog("command", "webhook.put", "eventKey=webhook.a").want(4)
		if !strings.Contains(e.stderr, "no answer from http://"+address) || strings.Contains(e.stderr, "idempotency") {
			t.Errorf("it says %q", e.stderr)
		}
	})
	t.Run("the answer to a change is lost: its repeat does it once", func(t *testing.T) {
		var lost atomic.Bool
		address := s.through(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
			if lost.CompareAndSwap(false, true) {
				service.ServeHTTP(httptest.NewRecorder(), r)
				cut(w)
				return
			}
			service.ServeHTTP(w, r)
		})
		sh := s.asAdmin(t, "HOOKLOG_URL="+address)
		e := sh.hooklog("command", "webhook.put", "eventKey=webhook.lost").want(4)
		key := regexp.MustCompile(`--idempotency-key (\S+)`).FindStringSubmatch(e.stderr)
		if key == nil {
			t.Fatalf("it says %q", e.stderr)
		}
		again := sh.hooklog("command", "webhook.put", "eventKey=webhook.lost", "--idempotency-key", key[1]).want(0).object()
		if again["version"] != float64(1) {
			t.Errorf("the repeat gave %v", again)
		}
		sh.hooklog("command", "webhook.put", "eventKey=webhook.lost").want(1)
	})
	t.Run("a friendlier verb tells how to repeat it, too", func(t *testing.T) {
		var lost atomic.Bool
		address := s.through(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
			if lost.CompareAndSwap(false, true) {
				service.ServeHTTP(httptest.NewRecorder(), r)
				cut(w)
				return
			}
			service.ServeHTTP(w, r)
		})
		sh := s.asAdmin(t, "HOOKLOG_URL="+address)
		e := sh.hooklog("webhook", "create", "webhook.friendly").want(4)
		key := regexp.MustCompile(`--idempotency-key (\S+)`).FindStringSubmatch(e.stderr)
		if key == nil {
			t.Fatalf("it says %q", e.stderr)
		}
		sh.hooklog("command", "webhook.put", "eventKey=webhook.friendly", "--idempotency-key", key[1]).want(0)
	})
	t.Run("an answer breaks off in the middle", func(t *testing.T) {
		address := s.through(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write([]byte(`{"items":[`))
			cut(w)
		})
		e := s.asAdmin(t, "HOOKLOG_URL="+address).hooklog("webhook", "list").want(4)
		if e.stdout != "" || !strings.Contains(e.stderr, "the connection broke off") {
			t.Errorf("it says %q %q", e.stdout, e.stderr)
		}
	})
	t.Run("somebody else answers", func(t *testing.T) {
		address := s.through(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = w.Write([]byte("<html>hello</html>"))
		})
		if e := s.asAdmin(t, "HOOKLOG_URL="+address).hooklog("webhook", "list").want(1); !strings.Contains(e.stderr, "is it the right URL?") {
			t.Errorf("it says %q", e.stderr)
		}
	})
	t.Run("credentials follow no redirect", func(t *testing.T) {
		thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("the redirect was followed with %q", r.Header.Get("Authorization"))
		}))
		defer thief.Close()
		address := s.through(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
		})
		s.asAdmin(t, "HOOKLOG_URL="+address).hooklog("webhook", "list").want(1)
	})
}

func TestStreamsAreShownLineByLine(t *testing.T) {
	s := start(t)
	var broken atomic.Bool
	address := s.through(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = w.Write([]byte("{\"n\":1,\"x\":\"<a&b>\"}\n{\"n\":2}\n"))
		if broken.Load() {
			_ = http.NewResponseController(w).Flush()
			cut(w)
		}
	})
	sh := s.asAdmin(t, "HOOKLOG_URL="+address)
	if e := sh.hooklog("command", "webhook.list").want(0); e.stdout != "{\"n\":1,\"x\":\"<a&b>\"}\n{\"n\":2}\n" {
		t.Errorf("it shows %q", e.stdout)
	}
	if e := sh.hooklog("command", "webhook.list", "-o", "yaml").want(0); e.stdout != "---\nn: 1\nx: <a&b>\n---\nn: 2\n" {
		t.Errorf("it shows %q", e.stdout)
	}
	broken.Store(true)
	if e := sh.hooklog("command", "webhook.list").want(4); !strings.Contains(e.stdout, `{"n":2}`) || !strings.Contains(e.stderr, "broke off") {
		t.Errorf("it shows %q %q", e.stdout, e.stderr)
	}
}

func TestNoSecretIsInWhatFails(t *testing.T) {
	s := start(t)
	token := s.admin("webhook.put", url.Values{"eventKey": {"webhook.secret"}}).text("uuid")
	if _, err := secret.ParseToken(token); err != nil {
		t.Fatal(err)
	}
	away := newShell(t, "HOOKLOG_URL=http://127.0.0.1:1", "HOOKLOG_USER=admin", "HOOKLOG_PASSWORD=the-password")
	for _, words := range [][]string{
		{"command", "webhook.receive", "token=" + token},
		{"command", "webhook.get", "uuid=" + token},
		{"command", "webhook.get", token},
		{"command", "webhook.get", token + "=1"},
		{"command", "user.put", "username=bob", "password=" + token},
		{"result", "get", token},
		{"result", "wait", token},
		{"trace", token},
		{"webhook", "tail", token},
		{"listen", token, "--forward", "http://127.0.0.1:1"},
		{"listen", "webhook.secret", "--forward", "ftp://admin:" + token + "@127.0.0.1:1"},
		{"webhook", "list", "--url", "http://admin:" + token + "@127.0.0.1:1"},
	} {
		if e := away.hooklog(words...); e.code == 0 || strings.Contains(e.stdout+e.stderr, token) || strings.Contains(e.stderr, "the-password") {
			t.Errorf("%s: %d %s%s", words[:2], e.code, e.stdout, e.stderr)
		}
	}
}
