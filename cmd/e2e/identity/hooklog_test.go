// Package identity_test asks a whole hooklog what its users would, with tokens and
// passwords of whoever knows them: the service's own realm, or a real provider
// that others wrote. What a user sees must be the same.
package identity_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

const (
	adminPassword = "a password: with everything €"
	// patience bounds every wait; nothing passes because of it.
	patience = 2 * time.Minute
)

// hooklog is a running service.
type hooklog struct {
	t    *testing.T
	cfg  settings.Config
	app  *app.App
	logs *buffer
	// ahead is how far the service's clock is ahead of the provider's.
	ahead atomic.Int64
	url   string
}

// startHooklog starts a service that knows its users from the provider.
func startHooklog(t *testing.T, p *provider) *hooklog {
	t.Helper()
	cfg := settings.Default()
	cfg.Listen, cfg.OpsListen = freeAddress(t), ""
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	cfg.AdminPassword = secret.NewPassword(adminPassword)
	p.settings(&cfg)
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	h := &hooklog{t: t, cfg: cfg, logs: &buffer{}}
	h.start()
	t.Cleanup(h.stop)
	return h
}

func (h *hooklog) start() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	var err error
	h.app, err = app.Start(ctx, h.cfg, app.Deps{
		Log: slog.New(slog.NewJSONHandler(h.logs, nil)), Out: io.Discard, Now: h.now,
	})
	if err != nil {
		h.t.Fatalf("start: %v\n%s", err, h.logs)
	}
	h.url = h.app.BaseURL()
}

func (h *hooklog) now() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }

func (h *hooklog) stop() {
	h.t.Helper()
	http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := h.app.Stop(ctx); err != nil {
		h.t.Errorf("stop: %v", err)
	}
}

// freeAddress is one that stays the same when the service starts again, as its URL
// is in the tokens of the own realm.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// answer is a whole HTTP answer.
type answer struct {
	status int
	body   []byte
}

// command runs a command with an authorization header and parameters as key=value.
func (h *hooklog) command(t *testing.T, authorization, name string, params ...string) answer {
	t.Helper()
	form := url.Values{}
	for _, p := range params {
		key, value, _ := strings.Cut(p, "=")
		form.Add(key, value)
	}
	return post(t, h.url+"/api/v3/command/"+name, form, "authorization", authorization)
}

// administer runs a command as the local administrator, which must succeed.
func (h *hooklog) administer(t *testing.T, name string, params ...string) map[string]any {
	t.Helper()
	a := h.command(t, basic("admin", adminPassword), name, params...)
	a.want(t, http.StatusOK)
	return a.object(t)
}

func post(t *testing.T, to string, form url.Values, header ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		request.Header[header[i]] = []string{header[i+1]} // with the key's case as it is
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, body}
}

func (a answer) want(t *testing.T, status int) {
	t.Helper()
	if a.status != status {
		t.Fatalf("answered %d, want %d: %s", a.status, status, a.body)
	}
}

func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(a.body, &object); err != nil {
		t.Fatalf("answer %d %q: %v", a.status, a.body, err)
	}
	return object
}

// eventually waits for what happens behind an answer.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !happened(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
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
