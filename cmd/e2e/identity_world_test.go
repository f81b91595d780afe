package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"hooklog/cmd/settings"
)

const (
	realmPath = "/auth/realms/hooklog"
	tokenPath = realmPath + "/protocol/openid-connect/token"

	kimsPassword = "kim's own: password ü"
)

// behindLoopback believes what callers say of their address, so that a test can
// come from anywhere. One user may run as many commands as it likes.
func behindLoopback(c *settings.Config) {
	c.TrustedProxies, c.UserRate = []string{"127.0.0.0/8"}, 0
}

// caller runs commands with headers of its own.
type caller struct {
	s      *service
	header []string
}

// as is who sends these headers.
func (s *service) as(header ...string) caller { return caller{s, header} }

// from is the same caller at another address.
func (c caller) from(address string) caller {
	return caller{c.s, append([]string{"X-Forwarded-For", address}, c.header...)}
}

// run sends a command with parameters as key=value.
func (c caller) run(name string, params ...string) answer {
	c.s.t.Helper()
	return c.s.post(commandPath+name, params, c.header...)
}

// post sends a form of key=value.
func (s *service) post(path string, fields []string, header ...string) answer {
	s.t.Helper()
	form := url.Values{}
	for _, field := range fields {
		key, value, _ := strings.Cut(field, "=")
		form.Add(key, value)
	}
	return s.send(http.MethodPost, path, strings.NewReader(form.Encode()), append([]string{"Content-Type", asForm}, header...)...)
}

// user makes a local user, or changes one.
func (s *service) user(name, password string, roles ...string) caller {
	s.t.Helper()
	s.command("user.put", "username="+name, "password="+password, "roles="+strings.Join(roles, ",")).want(http.StatusOK)
	return s.as("Authorization", basic(name, password))
}

// tokens is a granted token request.
type tokens struct {
	Access         string `json:"access_token"`
	Type           string `json:"token_type"`
	Expires        int    `json:"expires_in"`
	Refresh        string `json:"refresh_token"`
	RefreshExpires int    `json:"refresh_expires_in"`
	Scope          string `json:"scope"`
}

// grant asks the token endpoint, with fields as key=value.
func (s *service) grant(fields ...string) answer {
	s.t.Helper()
	return s.post(tokenPath, fields)
}

// granted gives the tokens of a request that must succeed.
func (a answer) granted() (g tokens) {
	a.t.Helper()
	a.want(http.StatusOK).json(&g)
	if g.Access == "" || g.Refresh == "" || g.Type != "Bearer" || a.header.Get("Cache-Control") != "no-store" {
		a.t.Errorf("granted %d characters of %q and %d, with Cache-Control %q", len(g.Access), g.Type, len(g.Refresh), a.header.Get("Cache-Control"))
	}
	return g
}

// denied fails the test unless the answer is that error of OAuth.
func (a answer) denied(status int, code string) {
	a.t.Helper()
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	a.want(status).json(&said)
	if said.Error != code || said.Description == "" {
		a.t.Errorf("answered %s, want the error %s", a.body, code)
	}
}

// passwordGrant logs in by the public client, with more fields as key=value.
func (s *service) passwordGrant(user, password string, more ...string) answer {
	s.t.Helper()
	return s.grant(append([]string{"grant_type=password", "client_id=hooklog", "username=" + user, "password=" + password}, more...)...)
}

// rotate uses a refresh token of the public client up.
func (s *service) rotate(refresh string) answer {
	s.t.Helper()
	return s.grant("grant_type=refresh_token", "client_id=hooklog", "refresh_token="+refresh)
}

func (s *service) bearer(token string) caller { return s.as("Authorization", "Bearer "+token) }

func (s *service) refresher(token string) caller { return s.as("Authorization", "Refresh "+token) }

// claims are what an access token says to whoever does not verify it.
func (g tokens) claims(t *testing.T) (claims map[string]any) {
	t.Helper()
	parts := strings.Split(g.Access, ".")
	if len(parts) != 3 {
		t.Fatalf("the access token has %d parts", len(parts))
	}
	decoded, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(decoded, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}
