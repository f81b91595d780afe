//go:build providers

package identity_test

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

// The variables name the issuers that deploy/dev started. A test without its
// provider fails: who asks for these tests means them.
const (
	keycloakVariable     = "HOOKLOG_TEST_KEYCLOAK"
	oidcProviderVariable = "HOOKLOG_TEST_OIDCPROVIDER"
)

// The clients that both providers know.
var (
	program  = client{id: "hooklog-cli"}
	service  = client{id: "hooklog-service", secret: "a secret: of the service"}
	stranger = client{id: "elsewhere"}
)

func TestKeycloak(t *testing.T) {
	issuer := started(t, keycloakVariable)
	base, _, _ := strings.Cut(issuer, "/auth/realms/")
	suite(t, &provider{
		settings: func(c *settings.Config) {
			external(c)
			c.AuthURL, c.Namespace, c.Audience = base, "people", "hooklog"
		},
		tokenURL:  base + "/auth/realms/people/protocol/openid-connect/token",
		program:   program,
		service:   service,
		stranger:  stranger,
		principal: regexp.MustCompile(`^people:[0-9a-f-]{36}$`),
		rotate:    func(t *testing.T, _ *hooklog) { rotateKeycloak(t, base) },
		interrupt: func(t *testing.T, _ *hooklog, between func()) { interrupt(t, "keycloak", between) },
	})
}

func TestOIDCProvider(t *testing.T) {
	issuer := started(t, oidcProviderVariable)
	suite(t, &provider{
		settings: func(c *settings.Config) {
			external(c)
			c.Issuer, c.Namespace, c.Audience, c.RolesClaim = issuer, "others", "urn:hooklog", "groups"
		},
		tokenURL:  issuer + "/token",
		program:   program,
		service:   service,
		stranger:  stranger,
		principal: regexp.MustCompile(`^others:wanda$`),
		rotate:    func(t *testing.T, _ *hooklog) { manage(t, "oidcprovider", "rotate") },
		interrupt: func(t *testing.T, _ *hooklog, between func()) { interrupt(t, "oidcprovider", between) },
	})
}

// external tells a hooklog about its client at the provider.
func external(c *settings.Config) {
	c.ClientID, c.ClientSecret = service.id, secret.NewPassword(service.secret)
	c.PasswordGrant = true
}

// started is the issuer that a variable names.
func started(t *testing.T, variable string) string {
	t.Helper()
	issuer := os.Getenv(variable)
	if issuer == "" {
		t.Fatalf("%s is not set; run: make test-keycloak", variable)
	}
	return issuer
}

// manage runs a verb of a provider's script in deploy/dev.
func manage(t *testing.T, name, verb string) {
	t.Helper()
	script := filepath.Join("..", "..", "..", "deploy", "dev", name, name)
	// No pipe: what the script starts would hold it open.
	if err := exec.CommandContext(t.Context(), script, verb).Run(); err != nil {
		t.Fatalf("%s %s: %v", name, verb, err)
	}
}

func interrupt(t *testing.T, name string, between func()) {
	t.Helper()
	manage(t, name, "stop")
	between()
	manage(t, name, "up")
}

// rotateKeycloak gives the realm a new key that comes before the others, as its
// administrator would.
func rotateKeycloak(t *testing.T, base string) {
	t.Helper()
	a := post(t, base+"/auth/realms/master/protocol/openid-connect/token", url.Values{
		"grant_type": {"password"}, "client_id": {"admin-cli"}, "username": {"keeper"}, "password": {"keeper"},
	})
	a.want(t, http.StatusOK)
	token, _ := a.object(t)["access_token"].(string)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/auth/admin/realms/people/components",
		strings.NewReader(`{"name":"newer","providerId":"rsa-generated","providerType":"org.keycloak.keys.KeyProvider","config":{"priority":["1000"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Fatalf("a new key of Keycloak: %s", response.Status)
	}
}
