package doctor

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"hooklog/cmd/app"
)

func (e *examination) identity(ctx context.Context, n *notes) {
	if !e.cfg.External() {
		n.ok("the service is its own realm, %s", e.cfg.Namespace)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	issuer := e.cfg.IssuerURL()
	if !discovered(ctx, n, issuer) {
		return
	}
	// The rest is asked in the way of the service itself, with its own strictness.
	outside, err := app.OpenIssuer(e.cfg, e.deps)
	if err != nil {
		n.fail("mend the settings of the issuer", "%v", err)
		return
	}
	defer outside.Close()
	keys, err := outside.Probe(ctx)
	switch {
	case err != nil:
		n.fail("mend it at the identity provider; no token can be verified before", "%s: %v", issuer, err)
		return
	case keys == 0:
		n.fail("give the realm a key that signs, at the identity provider", "%s publishes no key that tokens can be verified with", issuer)
		return
	}
	n.ok("%s answers, and publishes %d keys", issuer, keys)
	if e.cfg.ClientID == "" {
		n.ok("no client-id is set: Bearer works, Refresh and passwords of the provider do not")
	}
}

// discovered tells apart what may be wrong with the first document.
func discovered(ctx context.Context, n *notes, issuer string) bool {
	place := discoveryOf(issuer)
	answer, err := ask(ctx, careful, place)
	var said struct {
		Issuer string `json:"issuer"`
	}
	switch {
	case err != nil:
		n.fail("see that the identity provider runs, and that name, port, certificate and firewall let this machine through", "%s cannot be asked: %v", issuer, err)
	case answer.status != http.StatusOK:
		n.fail("write the issuer's URL as its discovery document shows it; for a Keycloak without /auth in its URLs, set issuer in place of auth-url",
			"%s answers %d", place, answer.status)
	case json.Unmarshal(answer.body, &said) != nil || said.Issuer == "":
		n.fail("write the URL of an OpenID Connect issuer", "%s is no discovery document", place)
	case said.Issuer != issuer:
		n.fail("set issuer to that, to the letter, if it is the one you mean: tokens carry it", "%s calls itself %s", issuer, said.Issuer)
	default:
		return true
	}
	return false
}

func discoveryOf(issuer string) string {
	return strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
}
