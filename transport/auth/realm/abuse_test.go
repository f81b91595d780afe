package realm_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/transport/commands"
)

// forger makes tokens that are signed with the realm's own key and differ from
// good ones where they are told to.
type forger struct {
	w       *world
	id      string
	private *ecdsa.PrivateKey
}

func newForger(t *testing.T, w *world) *forger {
	t.Helper()
	f := &forger{w: w}
	f.use(t, w.people.SigningKeys()[0])
	return f
}

func (f *forger) use(t *testing.T, key access.SigningKey) {
	t.Helper()
	plain, err := f.w.ring.Open(commands.SigningKeyField, key.SealedFor, key.Sealed)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(plain)
	if err != nil {
		t.Fatal(err)
	}
	f.id, f.private = key.ID, parsed.(*ecdsa.PrivateKey)
}

// parts are what a token is made of.
type parts struct {
	header map[string]any
	claims map[string]any
	sign   func(input string) []byte
}

func (f *forger) token(changes ...func(*parts)) string {
	now := f.w.clock.Now().Unix()
	p := &parts{
		header: map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": f.id},
		claims: map[string]any{
			"iss": base + prefix, "sub": "kim", "aud": "hooklog", "azp": "hooklog", "client_id": "hooklog",
			"iat": now, "nbf": now, "exp": now + 300, "jti": "1", "preferred_username": "kim", "ver": 3,
			"realm_access": map[string]any{"roles": []string{access.RoleAdministrator}},
		},
		sign: es256(f.private),
	}
	for _, change := range changes {
		change(p)
	}
	input := encode(p.header) + "." + encode(p.claims)
	return input + "." + base64.RawURLEncoding.EncodeToString(p.sign(input))
}

func encode(v any) string {
	text, ok := v.(string)
	if !ok {
		encoded, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		text = string(encoded)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

func es256(key *ecdsa.PrivateKey) func(string) []byte {
	return func(input string) []byte {
		sum := sha256.Sum256([]byte(input))
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			panic(err)
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
}

func hs256(key []byte) func(string) []byte {
	return func(input string) []byte {
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write([]byte(input))
		return mac.Sum(nil)
	}
}

func header(name string, value any) func(*parts) { return func(p *parts) { p.header[name] = value } }

func claim(name string, value any) func(*parts) { return func(p *parts) { p.claims[name] = value } }

func noHeader(name string) func(*parts) { return func(p *parts) { delete(p.header, name) } }

func noClaim(name string) func(*parts)           { return func(p *parts) { delete(p.claims, name) } }
func signed(by func(string) []byte) func(*parts) { return func(p *parts) { p.sign = by } }

// abuses are tokens that must not be taken, by what is wrong with them.
func abuses(t *testing.T, f *forger) map[string]string {
	t.Helper()
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&f.private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	published := f.w.people.SigningKeys()[0].Public
	nothing := signed(func(string) []byte { return nil })
	now := f.w.clock.Now().Unix()
	ownKey := map[string]any{
		"kty": "EC", "crv": "P-256",
		"x": base64.RawURLEncoding.EncodeToString(stranger.X.FillBytes(make([]byte, 32))),
		"y": base64.RawURLEncoding.EncodeToString(stranger.Y.FillBytes(make([]byte, 32))),
	}
	good := f.token()
	head, rest, _ := strings.Cut(good, ".")
	body, signature, _ := strings.Cut(rest, ".")
	all := map[string]string{
		"alg none":                         f.token(header("alg", "none"), nothing),
		"alg NONE":                         f.token(header("alg", "NONE"), nothing),
		"alg none with a signature":        f.token(header("alg", "none")),
		"no alg":                           f.token(noHeader("alg")),
		"alg in other letters":             f.token(header("alg", "es256")),
		"HS256 with the public key (PEM)":  f.token(header("alg", "HS256"), signed(hs256(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))),
		"HS256 with the public key (DER)":  f.token(header("alg", "HS256"), signed(hs256(der))),
		"HS256 with the public key (JWK)":  f.token(header("alg", "HS256"), signed(hs256(published))),
		"HS256 with nothing":               f.token(header("alg", "HS256"), signed(hs256(nil))),
		"another algorithm's name":         f.token(header("alg", "RS256")),
		"another's signature":              f.token(signed(es256(stranger))),
		"no signature":                     f.token(nothing),
		"a signature of zeros":             f.token(signed(func(string) []byte { return make([]byte, 64) })),
		"a signature cut short":            f.token(signed(func(in string) []byte { return es256(f.private)(in)[:63] })),
		"another issuer":                   f.token(claim("iss", base+"/auth/realms/other")),
		"an issuer with a slash":           f.token(claim("iss", base+prefix+"/")),
		"no issuer":                        f.token(noClaim("iss")),
		"another audience":                 f.token(claim("aud", "others")),
		"no audience":                      f.token(noClaim("aud")),
		"an empty audience":                f.token(claim("aud", []string{})),
		"an expiry that is over":           f.token(claim("exp", now-31)),
		"no expiry":                        f.token(noClaim("exp")),
		"an expiry that is no number":      f.token(claim("exp", "never")),
		"an expiry beyond all time":        f.token(claim("exp", 1e300)),
		"a not-before to come":             f.token(claim("nbf", now+31)),
		"no not-before":                    f.token(noClaim("nbf")),
		"an issue to come":                 f.token(claim("iat", now+31)),
		"the type JWT":                     f.token(header("typ", "JWT")),
		"no type":                          f.token(noHeader("typ")),
		"an ID token":                      f.token(header("typ", "JWT"), claim("nonce", "n"), claim("at_hash", "h"), claim("typ", "ID")),
		"a logout token's type":            f.token(header("typ", "logout+jwt")),
		"an unknown key id":                f.token(header("kid", "nobody")),
		"no key id":                        f.token(noHeader("kid")),
		"a key id that is no text":         f.token(header("kid", 1)),
		"a key id that is a path":          f.token(header("kid", "../../dev/null"), header("alg", "HS256"), signed(hs256(nil))),
		"jku":                              f.token(header("jku", "https://evil.example/jwks"), signed(es256(stranger))),
		"jku with the right signature":     f.token(header("jku", "https://evil.example/jwks")),
		"jwk":                              f.token(header("jwk", ownKey), signed(es256(stranger))),
		"jwk without kid":                  f.token(noHeader("kid"), header("jwk", ownKey), signed(es256(stranger))),
		"jwk with the right signature":     f.token(header("jwk", ownKey)),
		"x5u":                              f.token(header("x5u", "https://evil.example/cert"), signed(es256(stranger))),
		"x5c":                              f.token(header("x5c", []string{"MII"}), signed(es256(stranger))),
		"x5c that is empty":                f.token(header("x5c", []string{})),
		"crit":                             f.token(header("crit", []string{"exp"}), header("exp", 1)),
		"crit that is empty":               f.token(header("crit", []string{})),
		"b64 false":                        f.token(header("b64", false), header("crit", []string{"b64"})),
		"an unknown header":                f.token(header("x", 1)),
		"a user who is not there":          f.token(claim("sub", "lee")),
		"no user":                          f.token(noClaim("sub")),
		"the user of pipelines":            f.token(claim("sub", access.Anonymous)),
		"an older version of the user":     f.token(claim("ver", 2)),
		"a later version of the user":      f.token(claim("ver", 4)),
		"no version":                       f.token(noClaim("ver")),
		"another claim under the same sum": head + "." + encode(map[string]any{"sub": "admin"}) + "." + signature,
		"a fourth part":                    good + ".x",
		"two parts":                        head + "." + body,
		"no parts":                         "x",
		"a header that is no JSON":         "eA." + body + "." + signature,
		"white space":                      good + " x",
		"padding":                          head + "=." + body + "." + signature,
		"a token that is too long":         f.token(claim("x", strings.Repeat("x", 8<<10))),
		"the same as JSON":                 fmt.Sprintf(`{"payload":%q,"protected":%q,"signature":%q}`, body, head, signature),
		"five parts, as if encrypted":      head + ".." + body + "." + signature + ".",
	}
	doubled := `{"alg":"none","alg":"ES256","typ":"at+jwt","kid":"` + f.id + `"}`
	input := encode(doubled) + "." + body
	all["a header said twice"] = input + "." + base64.RawURLEncoding.EncodeToString(es256(f.private)(input))
	return all
}

func TestNoForgedTokenIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		f := newForger(t, w)
		tried, accepted := 0, 0
		for name, token := range abuses(t, f) {
			tried++
			// Each from a network of its own, or the guard would not even look.
			_, err := w.callFrom(fmt.Sprintf("10.0.%d.1", tried), "Bearer", token)
			if err == nil {
				accepted++
			}
			if !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s: got %v", name, err)
			}
			if len(token) > 20 && strings.Contains(fmt.Sprintf("%v %+v", err, err), token[:20]) {
				t.Errorf("%s: the refusal repeats the token", name)
			}
		}
		if caller, err := w.call("Bearer", f.token()); err != nil || caller.Principal != "kim" || caller.Roles[0] != "reader" {
			t.Errorf("the planted good token: %+v, %v", caller, err)
		}
		t.Logf("%d forged tokens, %d accepted", tried, accepted)
	})
}
