package client_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

// lister may list webhooks, and nothing else.
func (s *service) lister() {
	s.t.Helper()
	s.admin("user.put", url.Values{"username": {"alice"}, "password": {adminPassword}})
	s.admin("policy.put", url.Values{"name": {"alice"}, "users": {"alice"}, "commands": {"webhook.list"}, "keys": {"*"}})
}

// contexts is the text of the file.
func (sh *shell) contexts() string {
	sh.t.Helper()
	text, err := os.ReadFile(filepath.Join(sh.dir, "settings", "contexts.yaml"))
	if err != nil {
		sh.t.Fatal(err)
	}
	return string(text)
}

func TestALogInIsKeptAndUsed(t *testing.T) {
	s := start(t)
	s.lister()
	sh := newShell(t)
	e := sh.fed(adminPassword+"\n", "login", "--url", s.url, "--user", "alice").want(0)
	if !strings.Contains(e.stderr, "logged in to "+s.url) || e.stdout != "" {
		t.Errorf("it says %q %q", e.stdout, e.stderr)
	}
	sh.hooklog("webhook", "list").want(0)

	t.Run("in a file that nobody else can read, without the password", func(t *testing.T) {
		info, err := os.Stat(filepath.Join(sh.dir, "settings", "contexts.yaml"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		if strings.Contains(sh.contexts(), adminPassword) {
			t.Error("the password is in the file")
		}
	})
	t.Run("by the verbs of contexts too, which show no token", func(t *testing.T) {
		shown := sh.hooklog("context", "list").want(0).stdout + sh.hooklog("context", "show").want(0).stdout
		if !strings.Contains(shown, `"user": "alice"`) || !strings.Contains(shown, "context 127.0.0.1") || strings.Contains(shown, "eyJ") {
			t.Errorf("they show %s", shown)
		}
		sh.fed(adminPassword, "login", "--url", s.url, "--user", "alice", "--context", "second").want(0)
		first := strings.TrimPrefix(s.url, "http://")
		sh.hooklog("context", "use", first).want(0)
		if shown := sh.hooklog("context", "show").want(0).object(); shown["from"] != "context "+first {
			t.Errorf("the current one is %v", shown)
		}
		sh.hooklog("context", "use", "third").want(2)
	})
	t.Run("at its own service only", func(t *testing.T) {
		e := sh.hooklog("webhook", "list", "--url", "http://127.0.0.1:1").want(2)
		if !strings.Contains(e.stderr, "who are you at http://127.0.0.1:1?") {
			t.Errorf("it says %q", e.stderr)
		}
	})
	t.Run("until the log-out", func(t *testing.T) {
		sh.hooklog("logout").want(0)
		if e := sh.hooklog("webhook", "list").want(1); !strings.Contains(e.stderr, "Log in again: hooklog login") {
			t.Errorf("it says %q", e.stderr)
		}
	})
	t.Run("and a wrong password changes nothing", func(t *testing.T) {
		before := sh.contexts()
		sh.fed("wrong", "login", "--url", s.url, "--user", "alice").want(1)
		sh.fed("", "login", "--url", s.url, "--user", "alice").want(2)
		if sh.contexts() != before {
			t.Error("the file has changed")
		}
	})
}

var expires = regexp.MustCompile(`expires: \S+`)

func TestAnExpiredTokenIsRenewed(t *testing.T) {
	s := start(t)
	s.lister()
	login := func(t *testing.T, address string) *shell {
		sh := newShell(t)
		sh.fed(adminPassword, "login", "--url", address, "--user", "alice").want(0)
		return sh
	}
	t.Run("before it is used, as its time tells", func(t *testing.T) {
		sh := login(t, s.url)
		before := expires.ReplaceAllString(sh.contexts(), "expires: 2020-01-01T00:00:00Z")
		sh.write("settings/contexts.yaml", before)
		sh.hooklog("webhook", "list").want(0)
		if strings.Contains(sh.contexts(), "2020-01-01") {
			t.Error("the file has the old token")
		}
	})
	t.Run("in the middle of a list, when the service refuses it", func(t *testing.T) {
		for i := range 101 {
			s.admin("webhook.put", url.Values{"eventKey": {"webhook.many.k" + strings.Repeat("i", i)}})
		}
		var lists atomic.Int32
		address := s.through(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
			if strings.HasSuffix(r.URL.Path, "/webhook.list") && lists.Add(1) == 2 {
				s.forward(6 * time.Minute)
			}
			service.ServeHTTP(w, r)
		})
		sh := login(t, address)
		e := sh.hooklog("webhook", "list").want(0)
		if got := strings.Count(e.stdout, `"eventKey"`); got != 101 || lists.Load() != 3 { // two pages, one of them twice
			t.Errorf("%d webhooks in %d requests", got, lists.Load())
		}
	})
	t.Run("once, by many processes at the same time", func(t *testing.T) {
		var renewals atomic.Int32
		address := s.through(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
			if strings.HasSuffix(r.URL.Path, "/token") {
				renewals.Add(1)
			}
			service.ServeHTTP(w, r)
		})
		sh := login(t, address)
		renewals.Store(0)
		for range 3 { // an older token would end the log-in
			s.forward(6 * time.Minute)
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if e := sh.hooklog("command", "webhook.list", "limit=1"); e.code != 0 {
						t.Errorf("%d %s", e.code, e.stderr)
					}
				})
			}
			all.Wait()
		}
		if renewals.Load() != 3 {
			t.Errorf("it was renewed %d times", renewals.Load())
		}
	})
	t.Run("unless the user was changed: then it says so", func(t *testing.T) {
		sh := login(t, s.url)
		s.admin("user.put", url.Values{"username": {"alice"}, "roles": {"other"}})
		if e := sh.hooklog("webhook", "list").want(1); !strings.Contains(e.stderr, "has ended. Log in again: hooklog login --context") {
			t.Errorf("it says %q", e.stderr)
		}
	})
}

func TestARealmOfAnotherNamespaceIsNamedAsIssuer(t *testing.T) {
	s := start(t, func(c *settings.Config) { c.Namespace = "shop" })
	s.lister()
	sh := newShell(t, "HOOKLOG_URL="+s.url)
	if e := sh.fed(adminPassword, "login", "--user", "alice").want(1); !strings.Contains(e.stderr, "There is no realm at "+s.url) {
		t.Errorf("it says %q", e.stderr)
	}
	sh.fed(adminPassword, "login", "--user", "alice", "--issuer", s.url+"/auth/realms/shop").want(0)
	sh.write("settings/contexts.yaml", expires.ReplaceAllString(sh.contexts(), "expires: 2020-01-01T00:00:00Z"))
	sh.hooklog("webhook", "list").want(0)
}

func TestCallsAndResultsNeedNoLogIn(t *testing.T) {
	s := start(t)
	token := s.admin("webhook.put", url.Values{"eventKey": {"webhook.open"}}).text("uuid")
	sh := newShell(t, "HOOKLOG_URL="+s.url)
	result := sh.hooklog("command", "webhook.receive", "token="+token, "--data", "x").want(0).object()
	sh.hooklog("result", "get", result["correlationId"].(string)).want(0)
}

func TestOnTheMachineOfTheServiceNoLogInIsNeeded(t *testing.T) {
	for _, folder := range []string{".hooklog", "hooklog-data"} {
		t.Run("in the folder above "+folder, func(t *testing.T) {
			sh := newShell(t)
			s := start(t, func(c *settings.Config) {
				c.DataDir, c.AdminPassword = filepath.Join(sh.dir, folder), secret.Password{}
			})
			e := sh.hooklog("webhook", "create", "webhook.here").want(0)
			if e.stderr != "hooklog: as admin of the data folder "+folder+", at "+s.url+"\n" {
				t.Errorf("it says %q", e.stderr)
			}
			// Names of this machine are as good; other services do not get the password.
			sh.hooklog("webhook", "list", "--url", strings.Replace(s.url, "127.0.0.1", "localhost", 1)).want(0)
			sh.hooklog("webhook", "list", "--url", "http://127.0.0.1:1").want(2)

			elsewhere := newShell(t)
			elsewhere.hooklog("webhook", "list").want(2)
			elsewhere.hooklog("webhook", "list", "--data-dir", filepath.Join(sh.dir, folder)).want(0)
			elsewhere.env = append(elsewhere.env, "HOOKLOG_DATA_DIR="+filepath.Join(sh.dir, folder))
			elsewhere.hooklog("webhook", "list").want(0)
		})
	}
	t.Run("but the password must be there", func(t *testing.T) {
		sh := newShell(t)
		s := start(t, func(c *settings.Config) { c.DataDir = filepath.Join(sh.dir, ".hooklog") })
		if e := sh.hooklog("webhook", "list").want(2); !strings.Contains(e.stderr, "hooklog login --url "+s.url) {
			t.Errorf("it says %q", e.stderr)
		}
	})
	t.Run("and the service must run", func(t *testing.T) {
		sh := newShell(t)
		stopped(t, filepath.Join(sh.dir, "hooklog-data"))
		if e := sh.hooklog("webhook", "list").want(4); !strings.Contains(e.stderr, "no service runs on the data folder hooklog-data") {
			t.Errorf("it says %q", e.stderr)
		}
	})
}
