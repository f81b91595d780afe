package oidc

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	discovery "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// endpoints are where the issuer is asked, as its discovery document says.
type endpoints struct {
	keys  string
	token string
	// style is how a client with a secret shows it. It is not tried out: a wrong
	// password would count twice at the issuer.
	style oauth2.AuthStyle
}

func (i *Issuer) discover(ctx context.Context) (endpoints, error) {
	provider, err := discovery.NewProvider(discovery.ClientContext(ctx, i.client), i.cfg.Issuer)
	if err != nil {
		return endpoints{}, fmt.Errorf("discovery: %w", err)
	}
	var said struct {
		Keys    string   `json:"jwks_uri"`
		Token   string   `json:"token_endpoint"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := provider.Claims(&said); err != nil {
		return endpoints{}, fmt.Errorf("discovery: %w", err)
	}
	for name, place := range map[string]string{"jwks_uri": said.Keys, "token_endpoint": said.Token} {
		if err := i.at(place); err != nil {
			return endpoints{}, fmt.Errorf("discovery: %s: %w", name, err)
		}
	}
	// Where nothing is said, the header is what every issuer must take.
	style := oauth2.AuthStyleInHeader
	if i.cfg.ClientSecret.IsZero() || len(said.Methods) > 0 && !slices.Contains(said.Methods, "client_secret_basic") {
		style = oauth2.AuthStyleInParams
	}
	return endpoints{keys: said.Keys, token: said.Token, style: style}, nil
}

// at checks that a place is the issuer's own: whoever can change the discovery
// document shall not be sent passwords elsewhere.
func (i *Issuer) at(place string) error {
	if err := sound(place); err != nil {
		return err
	}
	there, _ := url.Parse(place) // sound
	issuer, _ := url.Parse(i.cfg.Issuer)
	if origin(there) != origin(issuer) {
		return fmt.Errorf("it is on %s, not on the issuer's host", there.Host)
	}
	return nil
}

// origin is scheme, host and port, in one way of writing.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
