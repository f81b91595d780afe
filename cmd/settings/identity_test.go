package settings_test

import (
	"testing"
	"time"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

func TestValidateRefusesAnIdentityThatCannotWork(t *testing.T) {
	const issuer = "https://id.example.org/realms/x"
	for name, tc := range map[string]struct {
		change func(*settings.Config)
		want   string
	}{
		"no namespace":                        {func(c *settings.Config) { c.Namespace = "" }, "namespace: "},
		"a namespace with a colon":            {func(c *settings.Config) { c.Namespace = "a:b" }, "namespace: "},
		"the namespace of the system":         {func(c *settings.Config) { c.Namespace = "svc" }, "namespace: svc is the service's own"},
		"access tokens for days":              {func(c *settings.Config) { c.AccessTokenLife = 48 * time.Hour }, "access-token-life: "},
		"refresh tokens that end at once":     {func(c *settings.Config) { c.RefreshTokenLife = 0 }, "refresh-token-life: "},
		"an issuer in the clear":              {func(c *settings.Config) { c.Issuer = "http://id.example.org" }, "issuer: passwords and tokens would be sent in the clear"},
		"an issuer without a host":            {func(c *settings.Config) { c.Issuer = "id.example.org" }, "issuer: write a plain URL"},
		"an identity server of another kind":  {func(c *settings.Config) { c.AuthURL = "ldap://id.example.org" }, "auth-url: write a URL that begins with https"},
		"two issuers":                         {func(c *settings.Config) { c.Issuer, c.AuthURL = issuer, issuer }, "issuer: auth-url is set too"},
		"no audience":                         {func(c *settings.Config) { c.Audience = "" }, "audience: "},
		"a password grant without a client":   {func(c *settings.Config) { c.Issuer, c.PasswordGrant = issuer, true }, "password-grant: it needs a client-id"},
		"a password grant of the own realm":   {func(c *settings.Config) { c.PasswordGrant = true }, "password-grant: is for an external issuer"},
		"a client without an external issuer": {func(c *settings.Config) { c.ClientID = "x" }, "client-id: is for an external issuer"},
		"a secret without an external issuer": {func(c *settings.Config) { c.ClientSecret = secret.NewPassword("x") }, "client-secret: is for an external issuer"},
	} {
		t.Run(name, func(t *testing.T) { wantFault(t, settings.Default(), tc.change, tc.want) })
	}
}

func TestTheIssuerFollowsFromTheIdentityServer(t *testing.T) {
	cfg := settings.Default()
	if cfg.External() {
		t.Error("by default, an external issuer is needed")
	}
	cfg.AuthURL, cfg.Namespace = "http://127.0.0.1:8180", "acme"
	if err := cfg.Validate(); err != nil || cfg.IssuerURL() != "http://127.0.0.1:8180/auth/realms/acme" {
		t.Errorf("the issuer is %q: %v", cfg.IssuerURL(), err)
	}
	cfg.AuthURL, cfg.Issuer = "", "https://id.example.org/x"
	if err := cfg.Validate(); err != nil || cfg.IssuerURL() != cfg.Issuer || !cfg.External() {
		t.Errorf("the issuer is %q: %v", cfg.IssuerURL(), err)
	}
}
