package oidc_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"hooklog/domain/fault"
	"hooklog/transport/auth/oidc"
)

func TestBearer(t *testing.T) {
	t.Run("gives who somebody is", func(t *testing.T) {
		w := newWorld(t, nil)
		who, err := w.bearer(t.Context(), w.sign(w.claims(), nil))
		want(t, err, fault.Internal)
		if who.Principal != "people:4711" || who.Name != "wanda" || who.Client != "hooklog-cli" ||
			!slices.Equal(who.Roles, []string{"reader", "writer"}) {
			t.Errorf("got %+v", who)
		}
	})
	t.Run("takes the types of access tokens", func(t *testing.T) {
		w := newWorld(t, nil)
		for _, typ := range []string{"JWT", "jwt", "at+jwt", "application/at+jwt", ""} {
			_, err := w.bearer(t.Context(), w.sign(w.claims(), map[string]any{"typ": typ}))
			want(t, err, fault.Internal)
		}
	})
	t.Run("falls back on name and client_id", func(t *testing.T) {
		w := newWorld(t, nil)
		who, err := w.bearer(t.Context(), w.sign(with(w.claims(), map[string]any{
			"preferred_username": nil, "azp": nil, "client_id": "other", "realm_access": nil, "typ": nil,
		}), nil))
		want(t, err, fault.Internal)
		if who.Name != "Wanda Writer" || who.Client != "other" || len(who.Roles) != 0 {
			t.Errorf("got %+v", who)
		}
	})
	t.Run("lets an authorized party count in place of the audience, where configured", func(t *testing.T) {
		w := newWorld(t, func(c *oidc.Config) { c.Audience, c.AuthorizedParties = "", []string{"hooklog-cli"} })
		claims := with(w.claims(), map[string]any{"aud": nil})
		_, err := w.bearer(t.Context(), w.sign(claims, nil))
		want(t, err, fault.Internal)
		for _, party := range []any{"other", "", nil} {
			_, err = w.bearer(t.Context(), w.sign(with(claims, map[string]any{"azp": party, "client_id": "hooklog-cli"}), nil))
			want(t, err, fault.Unauthenticated)
		}
	})
	t.Run("verifies a token once a minute only", func(t *testing.T) {
		w := newWorld(t, nil)
		token := w.sign(w.claims(), nil)
		_, err := w.bearer(t.Context(), token)
		want(t, err, fault.Internal)
		w.set(func() { w.published = nil })
		w.rotate("second") // the first is withdrawn
		w.clock.forward(59 * time.Second)
		_, err = w.bearer(t.Context(), w.sign(w.claims(), nil)) // brings the new keys
		want(t, err, fault.Internal)
		_, err = w.bearer(t.Context(), token)
		want(t, err, fault.Internal)
		w.clock.forward(2 * time.Second)
		_, err = w.bearer(t.Context(), token)
		want(t, err, fault.Unauthenticated)
	})
}

func TestRoles(t *testing.T) {
	for name, c := range map[string]struct {
		path  string
		claim map[string]any
		want  string
	}{
		"a list":                    {"groups", map[string]any{"groups": []any{"b", "a", 7, nil}}, "a b reader writer"},
		"one text":                  {"role", map[string]any{"role": "Domain Admins"}, "Domain Admins reader writer"},
		"a path":                    {"resource_access.hooklog.roles", map[string]any{"resource_access": map[string]any{"hooklog": map[string]any{"roles": []string{"x"}}}}, "reader writer x"},
		"a path through a dot":      {"resource_access.my.client.roles", map[string]any{"resource_access": map[string]any{"my.client": map[string]any{"roles": []string{"x"}}}}, "reader writer x"},
		"a name that is a URL":      {"https://example.com/roles", map[string]any{"https://example.com/roles": []string{"x"}}, "reader writer x"},
		"what is there already":     {"groups", map[string]any{"groups": []string{"reader"}}, "reader writer"},
		"nothing":                   {"groups", nil, "reader writer"},
		"something that is no text": {"groups", map[string]any{"groups": map[string]any{"x": true}}, "reader writer"},
		"a path into a text":        {"name.x", nil, "reader writer"},
		"no second claim":           {"", nil, "reader writer"},
	} {
		t.Run("come from "+name, func(t *testing.T) {
			w := newWorld(t, func(cfg *oidc.Config) { cfg.RolesClaim = c.path })
			who, err := w.bearer(t.Context(), w.sign(with(w.claims(), c.claim), nil))
			want(t, err, fault.Internal)
			if got := strings.Join(who.Roles, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestEveryAllowedKindOfKey(t *testing.T) {
	w := newWorld(t, nil)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[jose.SignatureAlgorithm]any{
		jose.RS256: private, jose.PS256: private, jose.RS512: private, jose.ES384: p384, jose.EdDSA: edwards,
	}
	for algorithm, key := range keys {
		w.published = append(w.published, (&jose.JSONWebKey{Key: key, KeyID: string(algorithm), Algorithm: string(algorithm)}).Public())
	}
	for algorithm, key := range keys {
		signing := func(kid string) jose.SigningKey {
			return jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: kid}}
		}
		t.Run("takes "+string(algorithm), func(t *testing.T) {
			_, err := w.bearer(t.Context(), signWith(t, signing(string(algorithm)), w.claims(), nil))
			want(t, err, fault.Internal)
		})
		t.Run("finds the key of "+string(algorithm)+" without its id", func(t *testing.T) {
			_, err := w.bearer(t.Context(), signWith(t, signing(""), w.claims(), nil))
			want(t, err, fault.Internal)
		})
	}
	t.Run("refuses a key for another algorithm", func(t *testing.T) {
		_, err := w.bearer(t.Context(), signWith(t, jose.SigningKey{
			Algorithm: jose.PS512, Key: jose.JSONWebKey{Key: private, KeyID: "RS256"},
		}, w.claims(), nil))
		want(t, err, fault.Unauthenticated)
	})
}
