package settings

import (
	"net/url"
	"regexp"
	"time"
)

// systemNamespace is that of the machine's own principal.
const systemNamespace = "svc"

var namespace = regexp.MustCompile("^[A-Za-z0-9][A-Za-z0-9_-]*$")

func (c Config) checkIdentity(f *faults) {
	switch {
	case !namespace.MatchString(c.Namespace):
		f.add("namespace", "%q must be letters, digits, - and _", c.Namespace)
	case c.Namespace == systemNamespace:
		f.add("namespace", "%s is the service's own; choose another name", systemNamespace)
	}
	f.between("access-token-life", c.AccessTokenLife, 10*time.Second, time.Hour)
	f.between("refresh-token-life", c.RefreshTokenLife, time.Minute, 12*month)
	f.issuer("issuer", c.Issuer)
	f.issuer("auth-url", c.AuthURL)
	if c.Issuer != "" && c.AuthURL != "" {
		f.add("issuer", "auth-url is set too; keep one of them")
	}
	if c.Audience == "" && (!c.External() || len(c.AuthorizedParties) == 0) {
		f.add("audience", "write what tokens for this service name in aud")
	}
	if c.External() {
		if c.PasswordGrant && c.ClientID == "" {
			f.add("password-grant", "it needs a client-id to ask the issuer as")
		}
		return
	}
	for _, outside := range []struct {
		name string
		set  bool
	}{
		{"authorized-parties", len(c.AuthorizedParties) > 0},
		{"roles-claim", c.RolesClaim != ""},
		{"client-id", c.ClientID != ""},
		{"client-secret", !c.ClientSecret.IsZero() || c.ClientSecretFile != ""},
		{"password-grant", c.PasswordGrant},
	} {
		if outside.set {
			f.add(outside.name, "is for an external issuer; set issuer or auth-url too, or leave it out")
		}
	}
}

// issuer checks an address to which tokens and passwords are sent.
func (f *faults) issuer(name, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		f.add(name, "write a plain URL, such as https://id.example.org")
	case u.Scheme == "http" && !onLoopback(u.Hostname()):
		f.add(name, "passwords and tokens would be sent in the clear; write https://")
	case u.Scheme != "http" && u.Scheme != "https":
		f.add(name, "write a URL that begins with https://")
	}
}
