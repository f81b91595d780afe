package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

// outsidePassword is good for everybody whom the issuer knows.
const outsidePassword = "the password outside"

// issuer is an OpenID provider whose users may be called anything.
type issuer struct {
	t     *testing.T
	url   string
	key   jose.JSONWebKey
	asked atomic.Int64 // for tokens
}

func startIssuer(t *testing.T) *issuer {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{t: t, key: jose.JSONWebKey{Key: private, KeyID: "one", Algorithm: "ES256", Use: "sig"}}
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.url = server.URL + "/auth/realms/people"
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	var answer any = map[string]any{"issuer": i.url, "jwks_uri": i.url + "/certs", "token_endpoint": i.url + "/token"}
	switch {
	case strings.HasSuffix(r.URL.Path, "/certs"):
		answer = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key.Public()}}
	case strings.HasSuffix(r.URL.Path, "/token"):
		i.asked.Add(1)
		if r.FormValue("password") != outsidePassword {
			w.WriteHeader(http.StatusBadRequest)
			answer = map[string]any{"error": "invalid_grant"}
			break
		}
		answer = map[string]any{"access_token": i.token("sub-of-"+r.FormValue("username"), r.FormValue("username")), "token_type": "Bearer", "expires_in": 300}
	}
	_ = json.NewEncoder(w).Encode(answer) // the caller may be gone
}

// token is an access token of a user with that subject and name.
func (i *issuer) token(subject, name string, roles ...string) string {
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": i.url, "aud": "hooklog", "azp": "cli", "typ": "Bearer", "iat": now, "exp": now + 300,
		"sub": subject, "preferred_username": name, "realm_access": map[string]any{"roles": roles},
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: i.key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		i.t.Error(err)
		return ""
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		i.t.Error(err)
	}
	return text
}

// With an external issuer, its users have their own names here, whatever they are
// called there.
func TestAnOutsideAdminIsNobody(t *testing.T) {
	outside := startIssuer(t)
	s := startOnBrokers(t, behindLoopback, func(c *settings.Config) {
		c.Issuer, c.Namespace = outside.url, "people"
		c.ClientID, c.ClientSecret, c.PasswordGrant = "hooklog", secret.NewPassword("the secret of hooklog"), true
	})
	local := s.user("wanda", kimsPassword, "administrator") // who is somebody else than wanda outside

	t.Run("whatever it is that calls itself admin", func(t *testing.T) {
		s := s.in(t)
		for _, token := range []string{
			outside.token("admin", "admin"), outside.token("4711", "admin"), outside.token("admin", ""), outside.token("people:admin", "admin", "writer"),
		} {
			s.bearer(token).forbidden("webhook.get")
			s.bearer(token).forbidden("user.put", "username=eve", "password=a password of eve", "roles=administrator")
		}
		s.command("policy.put", "name=local", "users=admin,wanda", "commands=*", "keys=*").want(http.StatusOK)
		s.bearer(outside.token("admin", "admin")).forbidden("webhook.get")
		s.bearer(outside.token("wanda", "wanda")).forbidden("webhook.get")
	})
	t.Run("until a rule names it as what it is", func(t *testing.T) {
		s := s.in(t)
		s.command("policy.put", "name=outside", "users=people:admin", "roles=writer", "commands=webhook.put", "keys=webhook.out.*").want(http.StatusOK)
		var made webhook
		s.bearer(outside.token("admin", "Ada Min")).run("webhook.put", "eventKey=webhook.out.a").want(http.StatusOK).json(&made)
		if made.CreatedBy != "people:admin" {
			t.Errorf("created by %s", made.CreatedBy)
		}
		if c, _ := s.lastCommand(); c.Principal != "people:admin" || c.PrincipalName != "Ada Min" || c.Effective != "people:admin" || c.Client != "cli" {
			t.Errorf("got %+v", c)
		}
		s.bearer(outside.token("4711", "someone", "writer")).run("webhook.put", "eventKey=webhook.out.b").want(http.StatusOK)
		s.bearer(outside.token("4711", "someone", "reader")).forbidden("webhook.put", "eventKey=webhook.out.c")
	})
	t.Run("the administrator's name is never asked for outside", func(t *testing.T) {
		s := s.in(t)
		asked := outside.asked.Load()
		s.as("Authorization", basic("admin", outsidePassword)).from("198.51.100.1").run("webhook.get").refused(http.StatusUnauthorized)
		s.as("Authorization", basic("admin", adminPassword)).from("198.51.100.1").run("webhook.get").want(http.StatusOK)
		if got := outside.asked.Load(); got != asked {
			t.Errorf("the issuer was asked %d times", got-asked)
		}
	})
	t.Run("every other name is, and local users are none", func(t *testing.T) {
		s := s.in(t)
		s.as("Authorization", basic("wanda", outsidePassword)).forbidden("webhook.get")
		caller{s, local.header}.run("webhook.get").refused(http.StatusUnauthorized)
	})
	t.Run("the own realm is not there", func(t *testing.T) {
		s.in(t).passwordGrant("admin", adminPassword).want(http.StatusNotFound)
	})
}
