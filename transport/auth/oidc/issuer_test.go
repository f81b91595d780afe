package oidc_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
	"hooklog/transport/auth/oidc"
)

// issuer is an OpenID provider with one user, wanda, who may log in with any
// client. It rotates refresh tokens, and takes each only once.
type issuer struct {
	t      *testing.T
	server *httptest.Server
	url    string
	now    func() time.Time

	mu        sync.Mutex
	down      bool
	signer    *jose.JSONWebKey
	published []jose.JSONWebKey
	discovery map[string]any
	refresh   string // the one that works
	refused   string // the error code of the token endpoint, if any
	asked     map[string]int
	forms     []string
}

func startIssuer(t *testing.T, now func() time.Time) *issuer {
	t.Helper()
	i := &issuer{t: t, now: now, asked: map[string]int{}, refresh: "refresh-canary-0"}
	i.server = httptest.NewServer(i)
	t.Cleanup(i.server.Close)
	i.url = i.server.URL + "/auth/realms/people"
	i.discovery = map[string]any{
		"issuer":                                i.url,
		"jwks_uri":                              i.url + "/certs",
		"token_endpoint":                        i.url + "/token",
		"token_endpoint_auth_methods_supported": []string{"client_secret_post"},
	}
	i.rotate("first")
	return i
}

// rotate signs with a new key from now on; those before go on to verify.
func (i *issuer) rotate(kid string) {
	i.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.signer = &jose.JSONWebKey{Key: private, KeyID: kid, Algorithm: "ES256", Use: "sig"}
	i.published = append(i.published, i.signer.Public())
}

func (i *issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// count is how often a path was asked.
func (i *issuer) count(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[path]
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.down {
		panic(http.ErrAbortHandler) // the connection is cut
	}
	path := strings.TrimPrefix(r.URL.Path, "/auth/realms/people")
	i.asked[path]++
	w.Header().Set("Content-Type", "application/json")
	switch path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(i.discovery)
	case "/certs":
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: i.published})
	case "/token":
		i.token(w, r)
	default:
		http.Redirect(w, r, i.url+"/certs", http.StatusFound)
	}
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	i.forms = append(i.forms, r.Form.Encode())
	f := r.PostForm
	good := f.Get("grant_type") == "password" && f.Get("username") == "wanda" && f.Get("password") == "password-canary" ||
		f.Get("grant_type") == "refresh_token" && f.Get("refresh_token") == i.refresh
	code := "invalid_grant"
	if i.refused != "" {
		good, code = false, i.refused
	}
	if f.Get("client_id") != "hooklog-service" || f.Get("client_secret") != "client-canary" {
		good, code = false, "invalid_client"
	}
	if !good {
		w.WriteHeader(http.StatusBadRequest)
		// A careless issuer repeats what it was sent.
		_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": f.Encode()})
		return
	}
	if f.Get("grant_type") == "refresh_token" {
		i.refresh = fmt.Sprintf("refresh-canary-%d", len(i.forms))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": i.sign(i.claims(), nil), "token_type": "Bearer", "expires_in": 300, "refresh_token": i.refresh,
	})
}

// claims are those of a good access token of wanda.
func (i *issuer) claims() map[string]any {
	now := i.now().Unix()
	return map[string]any{
		"iss": i.url, "sub": "4711", "aud": []string{"hooklog", "account"}, "azp": "hooklog-cli", "typ": "Bearer",
		"iat": now, "nbf": now, "exp": now + 300, "preferred_username": "wanda", "name": "Wanda Writer",
		"realm_access": map[string]any{"roles": []string{"writer", "reader"}},
	}
}

// sign makes a token with the issuer's key.
func (i *issuer) sign(claims, header map[string]any) string {
	return signWith(i.t, jose.SigningKey{Algorithm: jose.ES256, Key: i.signer}, claims, header)
}

func signWith(t *testing.T, key jose.SigningKey, claims, header map[string]any) string {
	t.Helper()
	options := (&jose.SignerOptions{}).WithType("JWT")
	for name, value := range header {
		options = options.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(key, options)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// with changes claims; nil takes one away.
func with(claims map[string]any, changes map[string]any) map[string]any {
	claims = maps.Clone(claims)
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

// world is an issuer and who trusts it, with one clock.
type world struct {
	*issuer
	trust *oidc.Issuer
	clock *clock
	logs  *buffer
}

func newWorld(t *testing.T, change func(*oidc.Config)) *world {
	t.Helper()
	w := &world{clock: &clock{}, logs: &buffer{}}
	w.issuer = startIssuer(t, w.clock.now)
	cfg := oidc.Config{
		Issuer: w.url, Namespace: "people", Audience: "hooklog",
		ClientID: "hooklog-service", ClientSecret: secret.NewPassword("client-canary"), PasswordGrant: true,
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	w.trust, err = oidc.New(cfg, oidc.Deps{Log: slog.New(slog.NewJSONHandler(w.logs, nil)), Now: w.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.trust.Close)
	return w
}

func (w *world) bearer(ctx context.Context, token string) (auth.Identity, error) {
	return w.trust.Bearer(ctx, secret.NewPassword(token))
}

// want fails unless the error is a fault of the kind; fault.Internal is for none.
func want(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if kind == fault.Internal && err == nil || kind != fault.Internal && fault.Is(err, kind) {
		return
	}
	t.Fatalf("got %v, want %s", err, kind)
}

type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// buffer is a bytes.Buffer for many writers.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
