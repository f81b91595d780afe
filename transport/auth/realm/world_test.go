package realm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/secret"
	"hooklog/domain/session"
	"hooklog/transport/auth"
	"hooklog/transport/auth/realm"
	"hooklog/transport/commands"
	"hooklog/transport/keyring"
)

const (
	base     = "https://hooks.example"
	prefix   = "/auth/realms/hooklog"
	tokenURL = prefix + "/protocol/openid-connect/token"
	password = "a password for kim"
)

var passwordHash = sync.OnceValues(func() (string, error) { return auth.Hash(secret.NewPassword(password)) })

// world is a realm with all that stands around it.
type world struct {
	people  *people
	tokens  *tokens
	journal *journal
	clock   *clock
	ring    *keyring.Ring
	log     *lines
	realm   *realm.Realm
	auth    *auth.Authenticator
}

type lines struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

// newWorld has the user kim, the public client hooklog and the client shop with
// its secret "of the shop". The options change it before the realm is made.
const accessLife = 5 * time.Minute

func newWorld(t *testing.T, options ...func(*world, *realm.Deps)) *world {
	t.Helper()
	hash, err := passwordHash()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{journal: &journal{}, clock: &clock{}, log: &lines{}}
	w.clock.at.Store(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC).UnixNano())
	path := filepath.Join(t.TempDir(), "ring")
	if err := keyring.Create(path); err != nil {
		t.Fatal(err)
	}
	if w.ring, err = keyring.Load(path); err != nil {
		t.Fatal(err)
	}
	w.people = &people{
		users: map[string]access.User{"kim": {Name: "kim", PasswordHash: hash, Roles: []string{"reader"}, Version: 3}},
		clients: map[string]access.Client{
			"hooklog": {ID: "hooklog", Public: true},
			"shop":    {ID: "shop", SecretHash: access.SecretHash(secret.NewPassword("of the shop"))},
		},
	}
	w.tokens = &tokens{now: w.clock.Now, families: map[session.Hash]session.Family{}}
	w.rotateKey(t, "c0")
	log := slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	guard := auth.NewGuard(auth.GuardDeps{
		Instance: "i1", Log: log, Now: w.clock.Now, Journal: w.journal, Partitions: func() int32 { return 1 },
	})
	t.Cleanup(guard.Close)
	local, err := auth.NewLocal(w.people, w.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	deps := realm.Deps{
		Log: log, Now: w.clock.Now, Registry: w.people, Families: w.tokens, Passwords: local, Guard: guard,
		Ring: w.ring, Journal: w.journal, AccessPartitions: func() int32 { return 1 },
	}
	for _, option := range options {
		option(w, &deps)
	}
	w.realm, err = realm.New(realm.Config{
		BaseURL: base, Namespace: "hooklog", Audience: "hooklog", AccessLife: accessLife,
	}, deps)
	if err != nil {
		t.Fatal(err)
	}
	w.auth, err = auth.New(auth.Schemes{Basic: local, Bearer: w.realm, Refresh: w.realm}, guard, auth.Proxies{}, w.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// rotateKey does what key.rotate does.
func (w *world) rotateKey(t *testing.T, commandID string) {
	t.Helper()
	key, err := commands.NewSigningKey(w.ring, commandID)
	if err != nil {
		t.Fatal(err)
	}
	w.people.change(func(p *people) {
		key.Created = w.clock.Now()
		p.keys = slices.Insert(slices.Clone(p.keys), 0, key)
	})
}

// answer is what the token endpoint said.
type answer struct {
	status  int
	header  http.Header
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int    `json:"expires_in"`
	Refresh string `json:"refresh_token"`
	Ends    int    `json:"refresh_expires_in"`
	Scope   string `json:"scope"`
	Error   string `json:"error"`
	Why     string `json:"error_description"`
}

// post sends a form, given as pairs, to the token endpoint.
func (w *world) post(t *testing.T, pairs ...string) answer {
	t.Helper()
	return w.send(t, post(pairs...))
}

func post(pairs ...string) *http.Request {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return postBody(form.Encode())
}

func postBody(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, tokenURL, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

func (w *world) send(t *testing.T, r *http.Request) answer {
	t.Helper()
	recorder := httptest.NewRecorder()
	w.realm.ServeHTTP(recorder, r)
	result := recorder.Result()
	body, err := io.ReadAll(result.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: result.StatusCode, header: result.Header}
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if result.Header.Get("Cache-Control") != "no-store" || result.Header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", result.Header)
	}
	return a
}

// logIn gets tokens for kim by the public client.
func (w *world) logIn(t *testing.T, more ...string) answer {
	t.Helper()
	a := w.post(t, append([]string{"grant_type", "password", "client_id", "hooklog", "username", "kim", "password", password}, more...)...)
	if a.status != http.StatusOK {
		t.Fatalf("%+v", a)
	}
	return a
}

func (w *world) refresh(t *testing.T, token string, more ...string) answer {
	t.Helper()
	return w.post(t, append([]string{"grant_type", "refresh_token", "client_id", "hooklog", "refresh_token", token}, more...)...)
}

// call authenticates a command that carries the header.
func (w *world) call(scheme, token string) (commands.Caller, error) {
	return w.callFrom("192.0.2.1", scheme, token)
}

func (w *world) callFrom(address, scheme, token string) (commands.Caller, error) {
	r := httptest.NewRequest(http.MethodPost, "/api/v3/command/webhook.get", nil)
	r.RemoteAddr = address + ":1"
	r.Header.Set("Authorization", scheme+" "+token)
	return w.auth.Authenticate(r)
}

func (a answer) String() string { return fmt.Sprintf("%d %s: %s", a.status, a.Error, a.Why) }
