package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// The three schemes of the authorization header, on the service's own realm.
func TestSchemes(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(behindLoopback)
		kim := s.user("kim", kimsPassword, "writer")
		s.command("policy.put", "name=writers", "roles=writer", "commands=webhook.*", "keys=webhook.kim.*").want(http.StatusOK)
		g := s.passwordGrant("kim", kimsPassword).granted()
		values := map[string]string{"Basic": kim.header[1], "Bearer": "Bearer " + g.Access, "Refresh": "Refresh " + g.Refresh}

		for scheme, value := range values {
			t.Run(scheme+" is the user, again and again", func(t *testing.T) {
				s := s.in(t)
				for n := range 2 {
					var made webhook
					s.as("Authorization", value).run("webhook.put", fmt.Sprintf("eventKey=webhook.kim.%s-%d", strings.ToLower(scheme), n)).
						want(http.StatusOK).json(&made)
					if made.CreatedBy != "kim" {
						t.Errorf("created by %s", made.CreatedBy)
					}
				}
			})
			t.Run(scheme+" is taken in any case of the header's key and of the scheme's name", func(t *testing.T) {
				s := s.in(t)
				name, rest, _ := strings.Cut(value, " ")
				for _, header := range []string{
					"authorization: " + value, "AUTHORIZATION: " + strings.ToUpper(name) + " " + rest, "aUTHORIZATIOn:" + strings.ToLower(name) + " " + rest,
				} {
					s.dial("GET " + commandPath + "webhook.list HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + header + "\r\n\r\n").want(http.StatusOK)
				}
			})
		}
		t.Run("a Refresh in the header does not use the token up", func(t *testing.T) {
			s.in(t).rotate(g.Refresh).granted()
		})
		t.Run("a secret of one scheme is nothing in another", func(t *testing.T) {
			s := s.in(t)
			for n, value := range []string{"Bearer " + g.Refresh, "Refresh " + g.Access, "Basic " + g.Access, "Bearer " + values["Basic"][6:]} {
				s.as("Authorization", value).from(fmt.Sprintf("198.51.%d.1", n)).run("webhook.list").refused(http.StatusUnauthorized)
			}
		})
	})
}

// Who is not let in, and what the answer tells.
func TestFailedLogInsTellNothing(t *testing.T) {
	s := startOnOne(t, behindLoopback)
	s.user("kim", kimsPassword)
	network := 0
	try := func(t *testing.T, header ...string) answer {
		network++ // each from elsewhere, so that nobody is held up
		a := s.in(t).as(header...).from(fmt.Sprintf("198.51.%d.1", network)).run("webhook.list")
		a.refused(http.StatusUnauthorized)
		if got := a.header.Get("WWW-Authenticate"); !strings.Contains(got, "Basic realm=") {
			t.Errorf("WWW-Authenticate %q", got)
		}
		return a
	}
	for name, header := range map[string][]string{
		"no header":                 {},
		"an unknown scheme":         {"Authorization", "Digest kim"},
		"two headers":               {"Authorization", basic("kim", kimsPassword), "Authorization", basic("kim", kimsPassword)},
		"malformed base64":          {"Authorization", basic("kim", kimsPassword) + "!"},
		"no colon":                  {"Authorization", "Basic a2lt"},
		"an access token of no-one": {"Authorization", "Bearer eyJhbGciOiJub25lIn0.e30."},
		"a refresh token of no-one": {"Authorization", "Refresh AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
	} {
		t.Run(name+" is answered 401", func(t *testing.T) { try(t, header...) })
	}
	t.Run("a wrong password, an unknown user and one that cannot log in are answered alike, in the header", func(t *testing.T) {
		wrong := try(t, "Authorization", basic("kim", "wrong-password"))
		wantIdentical(t, wrong, try(t, "Authorization", basic("nobody", "wrong-password")))
		wantIdentical(t, wrong, try(t, "Authorization", basic("anonymousUser", "wrong-password")))
	})
	t.Run("and at the token endpoint", func(t *testing.T) {
		s := s.in(t)
		ask := func(user, address string) answer {
			a := s.post(tokenPath, []string{"grant_type=password", "client_id=hooklog", "username=" + user, "password=wrong-password"}, "X-Forwarded-For", address)
			a.denied(http.StatusBadRequest, "invalid_grant")
			return a
		}
		wrong := ask("kim", "203.0.113.1")
		wantIdentical(t, wrong, ask("nobody", "203.0.113.2"))
		wantIdentical(t, wrong, ask("anonymousUser", "203.0.113.3"))
	})
}

// What an ordinary OAuth client reads.
func TestAnAccessTokenIsVerifiedWithWhatTheRealmPublishes(t *testing.T) {
	s := startOnOne(t)
	s.user("kim", kimsPassword, "writer")
	var published struct {
		Issuer        string   `json:"issuer"`
		TokenEndpoint string   `json:"token_endpoint"`
		KeysURL       string   `json:"jwks_uri"`
		Grants        []string `json:"grant_types_supported"`
	}
	s.send(http.MethodGet, realmPath+"/.well-known/openid-configuration", nil).want(http.StatusOK).json(&published)
	if published.Issuer != s.url+realmPath || published.TokenEndpoint != s.url+tokenPath || !slices.Contains(published.Grants, "password") {
		t.Fatalf("published %+v", published)
	}
	var keys jose.JSONWebKeySet
	s.send(http.MethodGet, published.KeysURL, nil).want(http.StatusOK).json(&keys)
	token, err := jwt.ParseSigned(s.passwordGrant("kim", kimsPassword).granted().Access, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		jwt.Claims
		Client string              `json:"azp"`
		Name   string              `json:"preferred_username"`
		Access map[string][]string `json:"realm_access"`
	}
	if err := token.Claims(&keys, &claims); err != nil {
		t.Fatal(err)
	}
	err = claims.Validate(jwt.Expected{Issuer: published.Issuer, Subject: "kim", AnyAudience: jwt.Audience{"hooklog"}, Time: s.clock.now()})
	if err != nil || claims.Name != "kim" || claims.Client != "hooklog" || !slices.Equal(claims.Access["roles"], []string{"writer"}) {
		t.Errorf("claims %+v: %v", claims, err)
	}
}
