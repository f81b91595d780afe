package oidc_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/auth/oidc"
)

func TestKeyRotation(t *testing.T) {
	w := newWorld(t, nil)
	first := w.signer
	before := w.sign(w.claims(), nil)
	_, err := w.bearer(t.Context(), before)
	want(t, err, fault.Internal)
	w.rotate("second")
	t.Run("a token of the new key is taken at once", func(t *testing.T) {
		_, err := w.bearer(t.Context(), w.sign(w.claims(), nil))
		want(t, err, fault.Internal)
	})
	t.Run("and those of the old key too", func(t *testing.T) {
		w.clock.forward(61 * time.Second) // it is verified anew
		_, err := w.bearer(t.Context(), before)
		want(t, err, fault.Internal)
	})
	t.Run("a withdrawn key is forgotten, although nothing seems to be missing", func(t *testing.T) {
		w.set(func() { w.published = w.published[1:] })
		w.clock.forward(10 * time.Minute)
		_, err := w.bearer(t.Context(), w.sign(w.claims(), nil))
		want(t, err, fault.Internal) // and renews the keys behind it
		end := time.Now().Add(10 * time.Second)
		for n := 0; err == nil && time.Now().Before(end); n++ {
			claims := with(w.claims(), map[string]any{"n": n}) // never one that is remembered
			_, err = w.bearer(t.Context(), signWith(t, jose.SigningKey{Algorithm: jose.ES256, Key: first}, claims, nil))
		}
		want(t, err, fault.Unauthenticated)
	})
}

func TestTheIssuerIsDown(t *testing.T) {
	w := newWorld(t, nil)
	w.set(func() { w.down = true })
	token := w.sign(w.claims(), nil)
	t.Run("from the start: nobody is let in, and nobody is called wrong", func(t *testing.T) {
		_, err := w.bearer(t.Context(), token)
		want(t, err, fault.Unavailable)
		_, err = w.trust.Refresh(t.Context(), secret.NewPassword("refresh-canary-0"))
		want(t, err, fault.Unavailable)
		_, err = w.trust.Basic(t.Context(), "wanda", secret.NewPassword("password-canary"))
		want(t, err, fault.Unavailable)
	})
	t.Run("it is asked once a second, however many wait", func(t *testing.T) {
		w.clock.forward(time.Second)
		w.set(func() { w.down = false })
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := w.bearer(t.Context(), token); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n, m := w.count("/.well-known/openid-configuration"), w.count("/certs"); n != 1 || m != 1 {
			t.Errorf("asked %d times for discovery and %d times for keys", n, m)
		}
	})
	w.set(func() { w.down = true })
	t.Run("later: its keys go on", func(t *testing.T) {
		w.clock.forward(61 * time.Second)
		_, err := w.bearer(t.Context(), token)
		want(t, err, fault.Internal)
		_, err = w.bearer(t.Context(), w.sign(with(w.claims(), map[string]any{"aud": "other"}), nil))
		want(t, err, fault.Unauthenticated)
	})
	w.rotate("second")
	rotated := w.sign(w.claims(), nil)
	t.Run("an unknown key may be a new one", func(t *testing.T) {
		_, err := w.bearer(t.Context(), rotated)
		want(t, err, fault.Unavailable)
	})
	t.Run("up again: the new key is taken", func(t *testing.T) {
		w.set(func() { w.down = false })
		w.clock.forward(time.Second)
		_, err := w.bearer(t.Context(), rotated)
		want(t, err, fault.Internal)
	})
	if !strings.Contains(w.logs.String(), "cannot be renewed") {
		t.Errorf("nothing is logged: %s", w.logs)
	}
}

func TestTheIssuerHangs(t *testing.T) {
	w := newWorld(t, nil)
	over := make(chan struct{})
	defer close(over)
	w.server.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over })
	hurried, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := w.bearer(hurried, w.sign(w.claims(), nil))
	want(t, err, fault.Unavailable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller did not end the wait: %v", err)
	}
}

func TestDiscovery(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("a foreign host was asked")
		w.WriteHeader(http.StatusTeapot)
	}))
	defer elsewhere.Close()
	for name, c := range map[string]struct {
		field string
		value func(*world) any
	}{
		"another issuer":             {"issuer", func(w *world) any { return w.url + "/" }},
		"keys on a foreign host":     {"jwks_uri", func(*world) any { return elsewhere.URL + "/certs" }},
		"tokens on a foreign host":   {"token_endpoint", func(*world) any { return elsewhere.URL + "/token" }},
		"keys by http far away":      {"jwks_uri", func(*world) any { return "http://issuer.example.com/certs" }},
		"keys of no place":           {"jwks_uri", func(*world) any { return "" }},
		"keys in a file":             {"jwks_uri", func(*world) any { return "file:///etc/passwd" }},
		"a user in the URL":          {"token_endpoint", func(w *world) any { return strings.Replace(w.url, "//", "//a:b@", 1) }},
		"keys behind a redirect":     {"jwks_uri", func(w *world) any { return w.url + "/elsewhere" }},
		"a document without an end":  {"padding", func(*world) any { return strings.Repeat("x", 1<<20) }},
		"a document of another kind": {"jwks_uri", func(*world) any { return 7 }},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.discovery[c.field] = c.value(w)
			token := w.sign(w.claims(), nil)
			_, err := w.bearer(t.Context(), token)
			want(t, err, fault.Unavailable)
			if len(err.Error()) > 500 {
				t.Errorf("the error tells a story: %d bytes", len(err.Error()))
			}
		})
	}
	t.Run("keys that are not understood do no harm to the others", func(t *testing.T) {
		w := newWorld(t, nil)
		set, err := json.Marshal(map[string]any{"keys": []any{
			map[string]any{"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA", "kid": "odd"},
			map[string]any{"kty": "oct", "k": "AAAA", "kid": "first"},
			w.published[0],
		}})
		if err != nil {
			t.Fatal(err)
		}
		inner := w.server.Config.Handler
		w.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/certs") {
				_, _ = rw.Write(set)
				return
			}
			inner.ServeHTTP(rw, r)
		})
		_, err = w.bearer(t.Context(), w.sign(w.claims(), nil))
		want(t, err, fault.Internal)
	})
}

func TestConfig(t *testing.T) {
	good := oidc.Config{Issuer: "https://issuer.example.com/realms/people", Namespace: "people", Audience: "hooklog"}
	deps := oidc.Deps{Now: time.Now}
	if _, err := oidc.New(good, deps); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*oidc.Config){
		"no issuer":                         func(c *oidc.Config) { c.Issuer = "" },
		"an issuer by http far away":        func(c *oidc.Config) { c.Issuer = "http://issuer.example.com" },
		"a host that only begins as ours":   func(c *oidc.Config) { c.Issuer = "http://localhost.example.com" },
		"an issuer with a query":            func(c *oidc.Config) { c.Issuer += "?a=b" },
		"an issuer with a password":         func(c *oidc.Config) { c.Issuer = "https://a:b@issuer.example.com" },
		"no namespace":                      func(c *oidc.Config) { c.Namespace = "" },
		"the service's namespace":           func(c *oidc.Config) { c.Namespace = "svc" },
		"a namespace with a colon":          func(c *oidc.Config) { c.Namespace = "a:b" },
		"no audience":                       func(c *oidc.Config) { c.Audience = "" },
		"a password grant without a client": func(c *oidc.Config) { c.PasswordGrant = true },
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			cfg := good
			change(&cfg)
			if _, err := oidc.New(cfg, deps); err == nil {
				t.Error("accepted")
			}
		})
	}
	t.Run("reports all faults at once", func(t *testing.T) {
		_, err := oidc.New(oidc.Config{}, deps)
		for _, part := range []string{"issuer", "namespace", "audience"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in %v", part, err)
			}
		}
	})
	for _, local := range []string{"http://localhost:1", "http://127.0.0.2:1/auth", "http://[::1]:1"} {
		t.Run("takes http on this machine: "+local, func(t *testing.T) {
			cfg := good
			cfg.Issuer = local
			if _, err := oidc.New(cfg, deps); err != nil {
				t.Error(err)
			}
		})
	}
}
