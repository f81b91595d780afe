package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"hooklog/domain/fault"
	"hooklog/transport/auth"
)

// unsigned writes a token without a signature.
func unsigned(t *testing.T, algorithm string, claims map[string]any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode(fmt.Appendf(nil, `{"alg":%q,"kid":"first","typ":"JWT"}`, algorithm)) + "." + encode(payload) + "."
}

func TestAbuse(t *testing.T) {
	w := newWorld(t, nil)
	good := w.claims()
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(w.published[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	shared := func(key []byte) string {
		return signWith(t, jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: key, KeyID: "first"}}, good, nil)
	}
	foreign := func(kid string, header map[string]any) string {
		return signWith(t, jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: stranger, KeyID: kid}}, good, header)
	}
	now := w.clock.now().Unix()
	claim := func(name string, value any) string {
		return w.sign(with(good, map[string]any{name: value}), nil)
	}
	sound := w.sign(good, nil)
	parts := strings.Split(sound, ".")
	public := jose.JSONWebKey{Key: &stranger.PublicKey, KeyID: "own"}
	cases := map[string]string{
		"nothing":                           "",
		"no token":                          "opaque",
		"alg none":                          unsigned(t, "none", good),
		"alg None":                          unsigned(t, "None", good),
		"no signature":                      unsigned(t, "ES256", good),
		"HS256 with the public key, DER":    shared(der),
		"HS256 with the public key, PEM":    shared(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		"another signature":                 parts[0] + "." + parts[1] + "." + strings.Split(claim("sub", "1"), ".")[2],
		"other claims":                      parts[0] + "." + strings.Split(claim("sub", "1"), ".")[1] + "." + parts[2],
		"a stranger's key":                  foreign("first", nil),
		"a stranger's key without an id":    foreign("", nil),
		"a stranger's key by jku":           foreign("own", map[string]any{"jku": w.url + "/certs"}),
		"a stranger's key by x5u":           foreign("own", map[string]any{"x5u": w.url + "/certs"}),
		"a stranger's key by jwk":           foreign("own", map[string]any{"jwk": public}),
		"our key, and a jku":                w.sign(good, map[string]any{"jku": w.url + "/certs"}),
		"our key, and an x5u":               w.sign(good, map[string]any{"x5u": w.url + "/certs"}),
		"our key, and a jwk":                w.sign(good, map[string]any{"jwk": public}),
		"something critical":                w.sign(good, map[string]any{"crit": []string{"exp"}, "exp": now}),
		"another type":                      w.sign(good, map[string]any{"typ": "logout+jwt"}),
		"the type of a proof":               w.sign(good, map[string]any{"typ": "dpop+jwt"}),
		"another issuer":                    claim("iss", w.url+"/"),
		"no issuer":                         claim("iss", nil),
		"another audience":                  claim("aud", "account"),
		"an audience that begins like ours": claim("aud", []string{"hooklog-cli"}),
		"no audience":                       claim("aud", nil),
		"an authorized party for audience":  w.sign(with(good, map[string]any{"aud": nil, "azp": "hooklog"}), nil),
		"no expiry":                         claim("exp", nil),
		"an expiry that is no time":         claim("exp", "tomorrow"),
		"an expiry long ago":                claim("exp", now-31),
		"a time to come":                    claim("nbf", now+40),
		"an issue to come":                  claim("iat", now+40),
		"no subject":                        claim("sub", nil),
		"an ID token of Keycloak":           claim("typ", "ID"),
		"an ID token with at_hash":          claim("at_hash", "abc"),
		"an ID token with nonce":            claim("nonce", "abc"),
		"an ID token without any mark":      claim("typ", nil),
		"a refresh token":                   claim("typ", "Refresh"),
		"a token bound to a key":            claim("cnf", map[string]any{"jkt": "abc"}),
		"sixteen kilobytes and more":        claim("padding", strings.Repeat("x", 16<<10)),
	}
	accepted := 0
	for name, token := range cases {
		t.Run("refuses "+name, func(t *testing.T) {
			who, err := w.bearer(t.Context(), token)
			if err == nil {
				accepted++
			}
			want(t, err, fault.Unauthenticated)
			if who.Principal != "" {
				t.Errorf("a refused token gives %+v", who)
			}
			for _, part := range strings.Split(token, ".") {
				if len(part) > 8 && strings.Contains(err.Error(), part) {
					t.Errorf("the error repeats the token: %v", err)
				}
			}
		})
	}
	if asked := w.count("/certs"); asked > 2 {
		t.Errorf("the keys were asked for %d times; once, and once more within a minute, is right", asked)
	}
	if _, err := w.bearer(t.Context(), sound); err != nil {
		t.Errorf("the sound token is refused: %v", err)
	}
	t.Logf("%d of %d tokens accepted", accepted, len(cases))
}

func TestSkewAndExpiry(t *testing.T) {
	w := newWorld(t, nil)
	now := w.clock.now().Unix()
	for name, changes := range map[string]map[string]any{
		"an expiry a moment ago": {"exp": now - 20},
		"a time a moment ahead":  {"nbf": now + 20, "iat": now + 20},
	} {
		t.Run("takes "+name, func(t *testing.T) {
			_, err := w.bearer(t.Context(), w.sign(with(w.claims(), changes), nil))
			want(t, err, fault.Internal)
		})
	}
	t.Run("a token is not remembered beyond its expiry", func(t *testing.T) {
		token := w.sign(with(w.claims(), map[string]any{"exp": now + 10}), nil)
		_, err := w.bearer(t.Context(), token)
		want(t, err, fault.Internal)
		w.clock.forward(41 * time.Second)
		_, err = w.bearer(t.Context(), token)
		want(t, err, fault.Unauthenticated)
		if !errors.Is(err, auth.ErrOutdated) {
			t.Errorf("who was good once is called a guesser: %v", err)
		}
	})
}

func TestAFloodOfUnknownKeys(t *testing.T) {
	w := newWorld(t, nil)
	sound := w.sign(w.claims(), nil)
	if _, err := w.bearer(t.Context(), sound); err != nil {
		t.Fatal(err)
	}
	before := w.count("/certs")
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const minutes, each = 3, 100
	var accepted, refused int
	var mu sync.Mutex
	for minute := range minutes {
		var flood sync.WaitGroup
		for n := range each {
			token := signWith(t, jose.SigningKey{
				Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: stranger, KeyID: fmt.Sprint(minute, n)},
			}, w.claims(), nil)
			flood.Go(func() {
				_, err := w.bearer(t.Context(), token)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					accepted++
				} else if fault.Is(err, fault.Unauthenticated) {
					refused++
				}
			})
		}
		flood.Wait()
		w.clock.forward(time.Minute)
	}
	asked := w.count("/certs") - before
	t.Logf("%d tokens in %d minutes: %d accepted, the keys asked for %d times", minutes*each, minutes, accepted, asked)
	if accepted != 0 || refused != minutes*each {
		t.Errorf("%d accepted and %d refused of %d", accepted, refused, minutes*each)
	}
	if asked != minutes {
		t.Errorf("the keys were asked for %d times in %d minutes", asked, minutes)
	}
}
