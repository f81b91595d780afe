package auth_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/fault"
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
	hash, err := auth.Hash(secret.NewPassword(password))
	if err != nil {
		t.Fatal(err)
	}
	return users{"admin": {Name: "admin", PasswordHash: hash, Roles: []string{"administrator"}, Version: 1}}
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

func TestAuthenticate(t *testing.T) {
	a, err := auth.New(newUsers(t), auth.Proxies{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("gives the caller of a right password", func(t *testing.T) {
		for range 2 { // the second time from memory
			c, err := a.Authenticate(basicRequest("admin", password))
			if err != nil || c.Principal != "admin" || c.Address != "192.0.2.1" || len(c.Roles) != 1 {
				t.Fatalf("got %+v, %v", c, err)
			}
		}
	})
	t.Run("takes the scheme in any case", func(t *testing.T) {
		r := basicRequest("admin", password)
		r.Header.Set("Authorization", "bAsIc"+r.Header.Get("Authorization")[5:])
		if _, err := a.Authenticate(r); err != nil {
			t.Fatal(err)
		}
	})
	for name, r := range map[string]*http.Request{
		"no header":             request(),
		"another scheme":        request("Bearer abc"),
		"two headers":           request("Basic YTpi", "Basic YTpi"),
		"broken base64":         request("Basic %%%"),
		"no colon":              request("Basic YQ=="),
		"a wrong password":      basicRequest("admin", "wrong"),
		"an empty password":     basicRequest("admin", ""),
		"an unknown user":       basicRequest("nobody", password),
		"an empty user":         basicRequest("", password),
		"the system's own name": basicRequest(access.System, password),
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			if c, err := a.Authenticate(r); !fault.Is(err, fault.Unauthenticated) {
				t.Fatalf("got %+v, %v", c, err)
			}
		})
	}
}

func TestANewPasswordEndsTheOldOneAtOnce(t *testing.T) {
	u := newUsers(t)
	a, err := auth.New(u, auth.Proxies{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Authenticate(basicRequest("admin", password)); err != nil {
		t.Fatal(err)
	}
	changed := u["admin"]
	changed.Version++
	changed.PasswordHash, err = auth.Hash(secret.NewPassword("another"))
	if err != nil {
		t.Fatal(err)
	}
	u["admin"] = changed
	if _, err := a.Authenticate(basicRequest("admin", password)); !fault.Is(err, fault.Unauthenticated) {
		t.Fatalf("got %v", err)
	}
}

func TestVerifyRefusesForgedCosts(t *testing.T) {
	for _, hash := range []string{
		"", "$argon2id$v=19$m=4194304,t=99,p=1$YWJj$YWJj", "$argon2i$v=19$m=19456,t=2,p=1$YWJj$YWJj", "plain",
	} {
		if ok, err := auth.Verify(hash, secret.NewPassword("x")); ok || err == nil {
			t.Fatalf("%q: %v, %v", hash, ok, err)
		}
	}
}

func TestTheSameLogInManyTimesAtOnceIsHashedOnce(t *testing.T) {
	a, err := auth.New(newUsers(t), auth.Proxies{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for range 200 { // hashed one by one, they would wait longer than anyone does
		callers.Go(func() {
			if _, err := a.Authenticate(basicRequest("admin", password)); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
}
