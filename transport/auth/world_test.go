package auth_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
)

type users map[string]access.User

func (u users) User(name string) (access.User, bool, error) {
	user, ok := u[name]
	return user, ok, nil
}

const password = "correct horse: battery"

func newUsers(t *testing.T) users {
	t.Helper()
	hash := hashOf(t, password)
	return users{
		"admin":          {Name: "admin", PasswordHash: hash, Roles: []string{"administrator"}, Version: 1},
		access.Anonymous: {Name: access.Anonymous, Version: 1},
	}
}

func hashOf(t *testing.T, text string) string {
	t.Helper()
	hash, err := auth.Hash(secret.NewPassword(text))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// journal keeps what was appended; refuse makes it take nothing.
type journal struct {
	mu      sync.Mutex
	records []record.Record
	refuse  error
}

func (j *journal) Append(r *record.Record, done func(record.Position, error)) {
	j.mu.Lock()
	j.records = append(j.records, *r)
	j.mu.Unlock()
	done(r.Position, j.refuse)
}

// failures are the counts of failed log-ins that were appended.
func (j *journal) failures(t *testing.T) (all []access.Failures) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.records {
		if j.records[i].Header(record.HeaderType) != access.FailuresType {
			continue
		}
		var f access.Failures
		if err := json.Unmarshal(j.records[i].Value, &f); err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

func newGuard(j *journal, log slog.Handler) *auth.Guard {
	return auth.NewGuard(auth.GuardDeps{
		Instance: "i1", Log: slog.New(log), Now: time.Now, Journal: j, Partitions: func() int32 { return 3 },
	})
}

// newAuthenticator checks local users only.
func newAuthenticator(t *testing.T, u auth.Users, proxies auth.Proxies) *auth.Authenticator {
	t.Helper()
	local, err := auth.NewLocal(u, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return newSchemes(t, auth.Schemes{Basic: local}, proxies)
}

func newSchemes(t *testing.T, s auth.Schemes, proxies auth.Proxies) *auth.Authenticator {
	t.Helper()
	guard := newGuard(&journal{}, slog.DiscardHandler)
	t.Cleanup(guard.Close)
	a, err := auth.New(s, guard, proxies, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func request(header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	for _, h := range header {
		r.Header.Add("Authorization", h)
	}
	return r
}

func basicRequest(name, pass string) *http.Request {
	r := request()
	r.SetBasicAuth(name, pass)
	return r
}

func from(address string, r *http.Request) *http.Request {
	r.RemoteAddr = address + ":1"
	return r
}
