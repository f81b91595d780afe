package e2e_test

import (
	"net/http"
	"net/url"
	"testing"
)

// An operator's own client, which users come through.
func TestGrantsOfAnOperatorsOwnClient(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start()
		s.user("kim", kimsPassword, "administrator")
		secret := s.clientSecret("id=portal")
		ask := func(s *service, secret string, more ...string) answer {
			return s.grant(append([]string{
				"grant_type=password", "client_id=portal", "client_secret=" + secret, "username=kim", "password=" + kimsPassword,
			}, more...)...)
		}
		t.Run("is given tokens with its secret, in the form and in the header", func(t *testing.T) {
			s := s.in(t)
			g := ask(s, secret).granted()
			if claims := g.claims(t); claims["azp"] != "portal" || claims["sub"] != "kim" {
				t.Errorf("claims %v", claims)
			}
			s.bearer(g.Access).run("webhook.get").want(http.StatusOK)
			s.post(tokenPath, []string{"grant_type=password", "username=kim", "password=" + kimsPassword},
				"Authorization", basic("portal", url.QueryEscape(secret))).granted()
		})
		t.Run("is refused with a wrong secret, with none and by an unknown name, alike", func(t *testing.T) {
			s := s.in(t)
			wrong := ask(s, secret[1:]+"x")
			wrong.denied(http.StatusUnauthorized, "invalid_client")
			if wrong.header.Get("WWW-Authenticate") == "" {
				t.Error("there is no WWW-Authenticate")
			}
			wantIdentical(t, wrong, ask(s, ""))
			wantIdentical(t, wrong, s.grant("grant_type=password", "client_id=nobody", "client_secret="+secret, "username=kim", "password="+kimsPassword))
			wantIdentical(t, wrong, s.passwordGrant("kim", kimsPassword, "client_secret="+secret)) // the public client has none
		})
		t.Run("another client's refresh token is refused, and lives on", func(t *testing.T) {
			s := s.in(t)
			g := ask(s, secret).granted()
			s.rotate(g.Refresh).denied(http.StatusBadRequest, "invalid_grant")
			s.refresher(g.Refresh).run("webhook.list").want(http.StatusOK)
			s.grant("grant_type=refresh_token", "client_id=portal", "client_secret="+secret, "refresh_token="+g.Refresh).granted()
		})
		t.Run("a new secret ends the one before", func(t *testing.T) {
			s := s.in(t)
			next := s.clientSecret("id=portal", "newSecret=true")
			ask(s, secret).denied(http.StatusUnauthorized, "invalid_client")
			ask(s, next).granted()
			secret = next
		})
		t.Run("once deleted it is unknown, and its refresh tokens with it", func(t *testing.T) {
			s := s.in(t)
			g := ask(s, secret).granted()
			s.command("client.delete", "id=portal").want(http.StatusOK)
			ask(s, secret).denied(http.StatusUnauthorized, "invalid_client")
			s.refresher(g.Refresh).run("webhook.list").refused(http.StatusUnauthorized)
		})
	})
}

// clientSecret makes or changes a client and gives the secret in the answer,
// which no other answer has.
func (s *service) clientSecret(params ...string) string {
	s.t.Helper()
	secret, _ := s.command("client.put", params...).want(http.StatusOK).object()["secret"].(string)
	if len(secret) != 43 { // 256 bits
		s.t.Fatalf("the secret has %d characters", len(secret))
	}
	if shown := s.command("client.get", params[0]).want(http.StatusOK).object(); shown["secret"] != nil || shown["id"] != "portal" {
		s.t.Errorf("client.get shows %v", shown)
	}
	return secret
}

func TestScopes(t *testing.T) {
	s := startOnOne(t)
	s.user("kim", kimsPassword)
	t.Run("known ones are granted, none means the default", func(t *testing.T) {
		s := s.in(t)
		for asked, want := range map[string]string{"": "profile roles", "scope=openid roles": "openid roles", "scope= profile  profile ": "profile"} {
			g := s.passwordGrant("kim", kimsPassword, asked).granted()
			if g.Scope != want || g.claims(t)["scope"] != want {
				t.Errorf("%q gives %q and the claim %v", asked, g.Scope, g.claims(t)["scope"])
			}
		}
	})
	t.Run("an unknown one is refused", func(t *testing.T) {
		s.in(t).passwordGrant("kim", kimsPassword, "scope=profile everything").denied(http.StatusBadRequest, "invalid_scope")
	})
	t.Run("a refresh may ask for less, not for more, and a refused one uses nothing up", func(t *testing.T) {
		s := s.in(t)
		g := s.passwordGrant("kim", kimsPassword, "scope=profile roles").granted()
		asking := []string{"grant_type=refresh_token", "client_id=hooklog", "refresh_token=" + g.Refresh}
		s.grant(append(asking, "scope=openid")...).denied(http.StatusBadRequest, "invalid_scope")
		if got := s.grant(append(asking, "scope=roles")...).granted(); got.Scope != "roles" {
			t.Errorf("got %q", got.Scope)
		}
	})
}

// What the token endpoint does not take.
func TestMalformedTokenRequests(t *testing.T) {
	s := startOnOne(t)
	right := []string{"grant_type=password", "client_id=hooklog", "username=admin", "password=" + adminPassword}
	t.Run("a grant that does not exist", func(t *testing.T) {
		s.in(t).grant("grant_type=client_credentials", "client_id=hooklog").denied(http.StatusBadRequest, "unsupported_grant_type")
	})
	for name, fields := range map[string][]string{
		"no grant type": right[1:], "no client": {right[0], right[2], right[3]}, "no password": right[:3], "a repeated field": append(right, right[2]),
	} {
		t.Run(name, func(t *testing.T) { s.in(t).grant(fields...).denied(http.StatusBadRequest, "invalid_request") })
	}
	t.Run("a password in the query", func(t *testing.T) {
		s.in(t).post(tokenPath+"?password=x", right).denied(http.StatusBadRequest, "invalid_request")
	})
	t.Run("another method, with Allow", func(t *testing.T) {
		if a := s.in(t).send(http.MethodGet, tokenPath, nil).want(http.StatusMethodNotAllowed); a.header.Get("Allow") != http.MethodPost {
			t.Errorf("Allow %q", a.header.Get("Allow"))
		}
	})
	t.Run("the right ones beside them are granted", func(t *testing.T) { s.in(t).grant(right...).granted() })
}
