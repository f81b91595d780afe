package auth_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
	"hooklog/transport/commands"
)

// tokens is Bearer and Refresh for one good token each.
type tokens struct{}

func (tokens) Bearer(_ context.Context, token secret.Password) (auth.Identity, error) {
	return taken(token, "access-token")
}

func (tokens) Refresh(_ context.Context, token secret.Password) (auth.Identity, error) {
	return taken(token, "refresh-token")
}

func taken(token secret.Password, good string) (auth.Identity, error) {
	if token.Reveal() != good {
		return auth.Identity{}, fault.New(fault.Unauthenticated, "The token is not valid.")
	}
	return auth.Identity{Principal: "realm:4711", Name: "Kim", Roles: []string{"reader"}, Client: good}, nil
}

func TestAuthenticate(t *testing.T) {
	local, err := auth.NewLocal(newUsers(t), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	a := newSchemes(t, auth.Schemes{Basic: local, Bearer: tokens{}, Refresh: tokens{}}, auth.Proxies{})
	good := "Basic YWRtaW46Y29ycmVjdCBob3JzZTogYmF0dGVyeQ=="
	admin := commands.Caller{Principal: "admin", Roles: []string{"administrator"}, Address: "192.0.2.1"}
	kim := func(client string) commands.Caller {
		return commands.Caller{Principal: "realm:4711", Name: "Kim", Roles: []string{"reader"}, Client: client, Address: "192.0.2.1"}
	}
	for name, c := range map[string]struct {
		header string
		want   commands.Caller
	}{
		"a right password":             {good, admin},
		"an access token":              {"Bearer access-token", kim("access-token")},
		"a refresh token":              {"Refresh refresh-token", kim("refresh-token")},
		"the scheme bAsIc":             {"bAsIc" + good[5:], admin},
		"the scheme BEARER":            {"BEARER access-token", kim("access-token")},
		"the scheme refresh":           {"refresh refresh-token", kim("refresh-token")},
		"a second space at its scheme": {"Bearer  access-token", kim("access-token")},
	} {
		t.Run("gives the caller for "+name, func(t *testing.T) {
			for range 2 { // the second time from memory
				got, err := a.Authenticate(request(c.header))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Fatalf("caller differs (-want +got):\n%s", diff)
				}
			}
		})
	}
	const all = "Basic or Bearer or Refresh"
	for name, c := range map[string]struct {
		r    *http.Request
		says string
	}{
		"no header":                      {request(), all},
		"an unknown scheme":              {request("Digest abc"), all},
		"a token without a scheme":       {request("access-token"), all},
		"an empty header":                {request(""), all},
		"two headers":                    {request(good, good), all},
		"two schemes":                    {request(good, "Bearer access-token"), all},
		"broken base64":                  {request("Basic %%%"), "base64"},
		"no colon":                       {request("Basic YQ=="), "base64"},
		"a wrong password":               {basicRequest("admin", "wrong"), "wrong"},
		"an empty password":              {basicRequest("admin", ""), "wrong"},
		"an unknown user":                {basicRequest("nobody", password), "wrong"},
		"an empty user":                  {basicRequest("", password), "wrong"},
		"the user of pipelines":          {basicRequest(access.Anonymous, ""), "wrong"},
		"the system's own name":          {basicRequest(access.System, password), "wrong"},
		"a wrong access token":           {request("Bearer refresh-token"), "not valid"},
		"a wrong refresh token":          {request("Refresh access-token"), "not valid"},
		"an empty access token":          {request("Bearer"), "not valid"},
		"an empty refresh token":         {request("Refresh "), "not valid"},
		"a password as an access token":  {request("Bearer" + good[5:]), "not valid"},
		"an access token as a password":  {request("Basic access-token"), "base64"},
		"a list of schemes in one value": {request("Bearer access-token, " + good), "not valid"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			// Each from a network of its own, so that nobody is held up.
			got, err := a.Authenticate(from(fmt.Sprintf("10.%d.%d.1", len(name), name[0]), c.r))
			if !fault.Is(err, fault.Unauthenticated) || !strings.Contains(fault.From(err).Detail, c.says) {
				t.Fatalf("got %+v, %v", got, err)
			}
		})
	}
	t.Run("lists only what is offered", func(t *testing.T) {
		_, err := newSchemes(t, auth.Schemes{Bearer: tokens{}}, auth.Proxies{}).Authenticate(request(good))
		if !fault.Is(err, fault.Unauthenticated) || strings.Contains(err.Error(), "Basic") || !strings.Contains(err.Error(), "Bearer") {
			t.Fatalf("got %v", err)
		}
	})
}

func TestNamesThatAreNoLocalUsersCanNeverLogIn(t *testing.T) {
	hash := hashOf(t, password)
	u := newUsers(t)
	for _, name := range []string{access.Anonymous, access.System, "realm:admin"} {
		u[name] = access.User{Name: name, PasswordHash: hash, Version: 1}
	}
	local, err := auth.NewLocal(u, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := local.Basic(t.Context(), "admin", secret.NewPassword(password)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{access.Anonymous, access.System, "realm:admin"} {
		if _, err := local.Basic(t.Context(), name, secret.NewPassword(password)); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A header is sent as it is written here, which Go's own client would not do.
func TestHeaderKeysAreTakenInAnyCase(t *testing.T) {
	a := newSchemes(t, auth.Schemes{Bearer: tokens{}}, auth.Proxies{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := a.Authenticate(r); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	for header, want := range map[string]int{
		"authorization: Bearer access-token":                                 http.StatusOK,
		"AUTHORIZATION: Bearer access-token":                                 http.StatusOK,
		"aUtHoRiZaTiOn: bearer access-token":                                 http.StatusOK,
		"authorisation: Bearer access-token":                                 http.StatusUnauthorized,
		"authorization: Bearer access-token\r\nAUTHORIZATION: Bearer access": http.StatusUnauthorized,
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+header+"\r\n\r\n")
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		_ = conn.Close()
		if err != nil || answer.StatusCode != want {
			t.Errorf("%q: got %v, %v", header, answer, err)
		}
	}
}
