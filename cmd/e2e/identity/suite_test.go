package identity_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"hooklog/cmd/settings"
)

// provider is where users and their tokens come from. It knows wanda, who may
// change webhooks, and rita, who may look at them; their passwords are their names
// and "'s password".
type provider struct {
	// tokenURL is where clients get tokens.
	tokenURL string
	// settings tells a hooklog about the provider.
	settings func(*settings.Config)
	// prepare makes what is not there already, as an operator would.
	prepare func(t *testing.T, h *hooklog, p *provider)
	// program is a public client; service the one that hooklog itself uses, whose
	// refresh tokens it takes; stranger one whose tokens are for somebody else, or
	// empty where there is none.
	program, service, stranger client
	// principal is how hooklog calls wanda.
	principal *regexp.Regexp
	// rotate makes the provider sign with a new key.
	rotate func(t *testing.T, h *hooklog)
	// interrupt stops the provider and starts it again, on the same data. What
	// happens between is asked where hooklog goes on without it.
	interrupt func(t *testing.T, h *hooklog, between func())
}

type client struct{ id, secret string }

// tokens is the answer of a token endpoint.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// login gets tokens by the password grant.
func (p *provider) login(t *testing.T, as client, user string) tokens {
	t.Helper()
	form := url.Values{
		"grant_type": {"password"}, "client_id": {as.id}, "username": {user}, "password": {passwordOf(user)}, "scope": {"openid"},
	}
	if as.secret != "" {
		form.Set("client_secret", as.secret)
	}
	a := post(t, p.tokenURL, form)
	a.want(t, http.StatusOK)
	var got tokens
	if err := json.Unmarshal(a.body, &got); err != nil || got.Access == "" || got.Refresh == "" {
		t.Fatalf("the token endpoint answered %q: %v", a.body, err)
	}
	return got
}

func passwordOf(user string) string { return user + "'s password" }

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// keyID reads the id of the key that signed a token.
func keyID(t *testing.T, token string) string {
	t.Helper()
	head, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(head)
	var header struct {
		KeyID string `json:"kid"`
	}
	if err == nil {
		err = json.Unmarshal(text, &header)
	}
	if err != nil || header.KeyID == "" {
		t.Fatalf("a token without the id of its key: %v", err)
	}
	return header.KeyID
}

// suite is what every client may expect, whoever the provider is.
func suite(t *testing.T, p *provider) {
	h := startHooklog(t, p)
	if p.prepare != nil {
		p.prepare(t, h, p)
	}
	h.administer(t, "policy.put", "name=writers", "roles=webhook-writer", "commands=webhook.*", "keys=*")
	h.administer(t, "policy.put", "name=readers", "roles=webhook-reader", "commands=webhook.get", "keys=*")
	look := func(t *testing.T, authorization string, status int) {
		t.Helper()
		h.command(t, authorization, "webhook.get").want(t, status)
	}
	first := p.login(t, p.program, "wanda")

	t.Run("Bearer opens a command, whatever the case of key and scheme", func(t *testing.T) {
		look(t, "Bearer "+first.Access, http.StatusOK)
		post(t, h.url+"/api/v3/command/webhook.get", nil, "aUTHORIZATION", "bEARER "+first.Access).want(t, http.StatusOK)
		look(t, "Bearer "+first.Access+"x", http.StatusUnauthorized)
		look(t, "Bearer "+first.Refresh, http.StatusUnauthorized)
	})
	t.Run("Basic opens a command", func(t *testing.T) {
		look(t, basic("wanda", passwordOf("wanda")), http.StatusOK)
		look(t, basic("wanda", passwordOf("rita")), http.StatusUnauthorized)
		look(t, basic("nobody", passwordOf("nobody")), http.StatusUnauthorized)
	})
	own := p.login(t, p.service, "wanda")
	t.Run("Refresh opens a command, again and again", func(t *testing.T) {
		for range 3 {
			look(t, "Refresh "+own.Refresh, http.StatusOK)
		}
		look(t, "Refresh "+own.Refresh+"x", http.StatusUnauthorized)
	})
	t.Run("roles decide what is allowed", func(t *testing.T) {
		a := h.command(t, "Bearer "+first.Access, "webhook.put", "eventKey=webhook.identity")
		a.want(t, http.StatusOK)
		if by, _ := a.object(t)["createdBy"].(string); !p.principal.MatchString(by) {
			t.Errorf("created by %q, which is not %s", by, p.principal)
		}
		rita := "Bearer " + p.login(t, p.program, "rita").Access
		look(t, rita, http.StatusOK)
		h.command(t, rita, "webhook.put", "eventKey=webhook.other").want(t, http.StatusForbidden)
		h.command(t, rita, "user.get").want(t, http.StatusForbidden)
	})
	if p.stranger.id != "" {
		t.Run("a token for somebody else opens nothing", func(t *testing.T) {
			look(t, "Bearer "+p.login(t, p.stranger, "wanda").Access, http.StatusUnauthorized)
		})
		t.Run("an outside user called admin is nobody", func(t *testing.T) {
			admin := "Bearer " + p.login(t, p.program, "admin").Access
			look(t, admin, http.StatusForbidden)
			h.command(t, admin, "user.get").want(t, http.StatusForbidden)
		})
	}
	t.Run("a new key of the provider fails nobody", func(t *testing.T) {
		p.rotate(t, h)
		var second tokens
		eventually(t, "tokens are signed with the new key", func() bool {
			second = p.login(t, p.program, "wanda")
			return keyID(t, second.Access) != keyID(t, first.Access)
		})
		look(t, "Bearer "+second.Access, http.StatusOK)
		look(t, "Bearer "+first.Access, http.StatusOK)
	})
	t.Run("the provider ends and comes back", func(t *testing.T) {
		p.interrupt(t, h, func() {
			look(t, "Bearer "+first.Access, http.StatusOK)
			look(t, basic("rita", passwordOf("rita")), http.StatusServiceUnavailable)
			look(t, basic("admin", adminPassword), http.StatusOK)
		})
		look(t, "Bearer "+first.Access, http.StatusOK)
		look(t, "Refresh "+own.Refresh, http.StatusOK)
		look(t, basic("rita", passwordOf("rita")), http.StatusOK)
		look(t, "Bearer "+p.login(t, p.program, "rita").Access, http.StatusOK)
	})
	t.Run("a refresh token outlives its access token, and is used as often as need be", func(t *testing.T) {
		// The access tokens live for 300 s. Those that the provider gives now have
		// expired by the clock of the service, but within what clocks may differ.
		h.ahead.Store(int64(310 * time.Second))
		for range 3 {
			look(t, "Refresh "+own.Refresh, http.StatusOK)
		}
	})
	t.Run("no secret is in the log", func(t *testing.T) {
		logged := h.logs.String()
		for _, word := range []string{passwordOf("wanda"), passwordOf("rita"), adminPassword, first.Access, first.Refresh, own.Refresh} {
			if strings.Contains(logged, word) {
				t.Errorf("a line has %.12s…", word)
			}
		}
	})
}
