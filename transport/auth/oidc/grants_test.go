package oidc_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
	"hooklog/transport/auth/oidc"
)

func TestRefresh(t *testing.T) {
	w := newWorld(t, nil)
	token := secret.NewPassword("refresh-canary-0")
	ask := func(t *testing.T, kind fault.Kind) {
		t.Helper()
		who, err := w.trust.Refresh(t.Context(), token)
		want(t, err, kind)
		if err == nil && (who.Principal != "people:4711" || len(who.Roles) != 2) {
			t.Errorf("got %+v", who)
		}
	}
	t.Run("uses the token once, however many bring it at once", func(t *testing.T) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := w.trust.Refresh(t.Context(), token); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		ask(t, fault.Internal)
		if n := w.count("/token"); n != 1 {
			t.Errorf("the issuer was asked %d times", n)
		}
	})
	t.Run("goes on with the token that the issuer gave in its place", func(t *testing.T) {
		for life := range 3 {
			for step, seconds := range []time.Duration{298, 3} {
				w.clock.forward(seconds * time.Second)
				ask(t, fault.Internal)
				if n := w.count("/token"); n != life+step+1 {
					t.Errorf("the issuer was asked %d times in life %d", n, life)
				}
			}
		}
	})
	t.Run("does not lose it when the keys cannot be had", func(t *testing.T) {
		w := newWorld(t, nil)
		_, err := w.bearer(t.Context(), w.sign(w.claims(), nil)) // brings the first keys
		want(t, err, fault.Internal)
		w.rotate("second")
		w.set(func() { w.published = nil })
		_, err = w.trust.Refresh(t.Context(), token)
		want(t, err, fault.Unavailable)
		w.rotate("third")
		w.clock.forward(time.Second)
		_, err = w.trust.Refresh(t.Context(), token)
		want(t, err, fault.Internal)
	})
	t.Run("is unavailable while the issuer is down, and goes on after", func(t *testing.T) {
		w.clock.forward(301 * time.Second)
		w.set(func() { w.down = true })
		ask(t, fault.Unavailable)
		w.set(func() { w.down = false })
		ask(t, fault.Internal)
	})
	t.Run("ends when the issuer ends it", func(t *testing.T) {
		w.clock.forward(301 * time.Second)
		w.set(func() { w.refresh = "ended" })
		_, err := w.trust.Refresh(t.Context(), token)
		want(t, err, fault.Unauthenticated)
		if !errors.Is(err, auth.ErrOutdated) {
			t.Errorf("who was good once is called a guesser: %v", err)
		}
		_, err = w.trust.Refresh(t.Context(), token)
		want(t, err, fault.Unauthenticated)
		if errors.Is(err, auth.ErrOutdated) {
			t.Error("a token that nobody knows counts as good once")
		}
	})
	t.Run("refuses what cannot be one, without asking", func(t *testing.T) {
		before := w.count("/token")
		for _, text := range []string{"", strings.Repeat("x", 16<<10+1)} {
			_, err := w.trust.Refresh(t.Context(), secret.NewPassword(text))
			want(t, err, fault.Unauthenticated)
		}
		if w.count("/token") != before {
			t.Error("the issuer was asked")
		}
	})
	t.Run("is not offered without a client", func(t *testing.T) {
		w := newWorld(t, func(c *oidc.Config) { c.ClientID, c.PasswordGrant = "", false })
		_, err := w.trust.Refresh(t.Context(), token)
		want(t, err, fault.Unauthenticated)
	})
	t.Run("is done although the first who asked is gone", func(t *testing.T) {
		w := newWorld(t, nil)
		gone, leave := context.WithCancel(t.Context())
		leave()
		_, _ = w.trust.Refresh(gone, token)
		_, err := w.trust.Refresh(t.Context(), token)
		want(t, err, fault.Internal)
		if n := w.count("/token"); n != 1 {
			t.Errorf("the issuer was asked %d times", n)
		}
	})
}

func TestBasic(t *testing.T) {
	good := secret.NewPassword("password-canary")
	t.Run("logs in at the issuer, once a minute", func(t *testing.T) {
		w := newWorld(t, nil)
		for want := range 3 {
			for range 3 {
				who, err := w.trust.Basic(t.Context(), "wanda", good)
				if err != nil || who.Principal != "people:4711" || who.Name != "wanda" {
					t.Fatalf("got %+v, %v", who, err)
				}
			}
			if n := w.count("/token"); n != want+1 {
				t.Errorf("the issuer was asked %d times", n)
			}
			w.clock.forward(time.Minute)
		}
	})
	t.Run("remembers no failure, and asks once for each", func(t *testing.T) {
		w := newWorld(t, nil)
		for range 2 {
			_, err := w.trust.Basic(t.Context(), "wanda", secret.NewPassword("wrong"))
			want(t, err, fault.Unauthenticated)
		}
		if n := w.count("/token"); n != 2 {
			t.Errorf("the issuer was asked %d times", n)
		}
	})
	t.Run("tells name and password apart", func(t *testing.T) {
		w := newWorld(t, nil)
		_, err := w.trust.Basic(t.Context(), "wanda", good)
		want(t, err, fault.Internal)
		_, err = w.trust.Basic(t.Context(), "wandap", secret.NewPassword("assword-canary"))
		want(t, err, fault.Unauthenticated)
	})
	t.Run("is off unless switched on, and asks nobody", func(t *testing.T) {
		w := newWorld(t, func(c *oidc.Config) { c.PasswordGrant = false })
		_, err := w.trust.Basic(t.Context(), "wanda", good)
		want(t, err, fault.Unauthenticated)
		if n := w.count("/token"); n != 0 {
			t.Errorf("the issuer was asked %d times", n)
		}
	})
	for _, code := range []string{"invalid_client", "unauthorized_client", "unsupported_grant_type", "server_error", "slow_down"} {
		t.Run("is unavailable, not wrong, when the issuer says "+code, func(t *testing.T) {
			w := newWorld(t, nil)
			w.refused = code
			_, err := w.trust.Basic(t.Context(), "wanda", good)
			want(t, err, fault.Unavailable)
			if !strings.Contains(err.Error(), code) {
				t.Errorf("the operator does not learn why: %v", err)
			}
		})
	}
}

func TestAPasswordIsNotRedirected(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a foreign host was sent the password")
	}))
	defer elsewhere.Close()
	w := newWorld(t, nil)
	inner := w.server.Config.Handler
	w.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			http.Redirect(rw, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return
		}
		inner.ServeHTTP(rw, r)
	})
	_, err := w.trust.Basic(t.Context(), "wanda", secret.NewPassword("password-canary"))
	want(t, err, fault.Unavailable)
}

func TestNothingSecretIsSaid(t *testing.T) {
	w := newWorld(t, nil)
	said := ""
	note := func(_ auth.Identity, err error) {
		if err != nil {
			said += err.Error() + "\n"
		}
	}
	ask := func() {
		note(w.trust.Basic(t.Context(), "wanda", secret.NewPassword("password-canary")))
		note(w.trust.Basic(t.Context(), "wanda", secret.NewPassword("password-canary-2")))
		note(w.trust.Refresh(t.Context(), secret.NewPassword("refresh-canary-0")))
		note(w.trust.Refresh(t.Context(), secret.NewPassword("refresh-canary-x")))
		note(w.bearer(t.Context(), "bearer-canary"))
		note(w.bearer(t.Context(), w.sign(with(w.claims(), map[string]any{"iss": "canary"}), nil)))
		w.clock.forward(301 * time.Second)
	}
	ask()
	w.set(func() { w.refused = "invalid_client" })
	ask()
	w.set(func() { w.refused, w.down = "", true })
	ask()
	if strings.Count(said, "\n") < 10 {
		t.Fatalf("too few errors to look at:\n%s", said)
	}
	w.set(func() {
		if !strings.Contains(strings.Join(w.forms, " "), "password-canary") {
			t.Fatal("the secrets were not used")
		}
	})
	if said += w.logs.String(); strings.Contains(said, "canary") {
		t.Errorf("a secret is said:\n%s", said)
	}
}
