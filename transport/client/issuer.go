package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// maxDiscovery bounds what is read of a discovery document.
const maxDiscovery = 1 << 20

// Issuer is who gives tokens: the service's own realm, or an identity provider.
type Issuer struct {
	config oauth2.Config
	http   *http.Client
	url    string
	// grants are those that it says it has.
	grants []string
}

// Realm is the own realm of the service at base. It is found by its path and not
// by its discovery document, which names the base URL that others use.
func Realm(base, clientID string, caller *http.Client) *Issuer {
	i := &Issuer{http: caller, url: base + "/auth/realms/hooklog", grants: []string{"password"}}
	i.config = oauth2.Config{ClientID: clientID, Endpoint: oauth2.Endpoint{
		TokenURL: i.url + "/protocol/openid-connect/token", AuthStyle: oauth2.AuthStyleInParams,
	}}
	return i
}

// Discover asks an identity provider what it has.
func Discover(ctx context.Context, issuer, clientID string, caller *http.Client) (*Issuer, error) {
	issuer = strings.TrimRight(issuer, "/")
	if !isPrivate(issuer) {
		// Whoever changes the document says where passwords and tokens go.
		return nil, errors.New("write the issuer as a URL that others cannot change the answers of, such as https://id.example.org")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, issuer+"/.well-known/openid-configuration", http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := caller.Do(req)
	if err != nil {
		return nil, unreachable(issuer, err)
	}
	defer func() { _ = resp.Body.Close() }()
	var document struct {
		Issuer string   `json:"issuer"`
		Token  string   `json:"token_endpoint"`
		Device string   `json:"device_authorization_endpoint"`
		Page   string   `json:"authorization_endpoint"`
		Grants []string `json:"grant_types_supported"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxDiscovery)).Decode(&document)
	switch {
	case resp.StatusCode != http.StatusOK || err != nil:
		return nil, fmt.Errorf("%s has no discovery document of OpenID Connect; is it the right URL?", issuer)
	case strings.TrimRight(document.Issuer, "/") != issuer:
		return nil, fmt.Errorf("%s says that it is another issuer", issuer)
	}
	for _, endpoint := range []string{document.Token, document.Device, document.Page} {
		if endpoint != "" && !isPrivate(endpoint) {
			return nil, fmt.Errorf("%s wants passwords or tokens over a connection that others can read", issuer)
		}
	}
	return &Issuer{http: caller, url: issuer, grants: document.Grants, config: oauth2.Config{
		ClientID: clientID,
		Scopes:   []string{"openid"},
		Endpoint: oauth2.Endpoint{
			AuthURL: document.Page, TokenURL: document.Token, DeviceAuthURL: document.Device, AuthStyle: oauth2.AuthStyleInParams,
		},
	}}, nil
}

// isPrivate reports that nobody can read what is sent there.
func isPrivate(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || (u.Scheme == "http" && IsLoopback(u.Hostname())))
}

// IsLoopback reports that the host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// HasDeviceFlow reports that a person may log in with a code on any device.
func (i *Issuer) HasDeviceFlow() bool { return i.config.Endpoint.DeviceAuthURL != "" }

// HasPage reports that a person may log in on a page of the issuer.
func (i *Issuer) HasPage() bool {
	return i.config.Endpoint.AuthURL != "" && (len(i.grants) == 0 || slices.Contains(i.grants, "authorization_code"))
}

// ByPassword gets a token for a name and a password.
func (i *Issuer) ByPassword(ctx context.Context, user string, password secret.Password) (*oauth2.Token, error) {
	token, err := i.config.PasswordCredentialsToken(i.with(ctx), user, password.Reveal())
	return token, i.refusal(err)
}

// ByDevice shows where the person enters which code, and waits for it.
func (i *Issuer) ByDevice(ctx context.Context, show func(address, code string)) (*oauth2.Token, error) {
	device, err := i.config.DeviceAuth(i.with(ctx))
	if err != nil {
		return nil, i.refusal(err)
	}
	show(device.VerificationURI, device.UserCode)
	token, err := i.config.DeviceAccessToken(i.with(ctx), device)
	return token, i.refusal(err)
}

// Refresh gets a new token for one that has a refresh token.
func (i *Issuer) Refresh(ctx context.Context, token *oauth2.Token) (*oauth2.Token, error) {
	renewed, err := i.config.TokenSource(i.with(ctx), &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	return renewed, i.refusal(err)
}

func (i *Issuer) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, i.http)
}

// refusal puts a failure in the words of this package. Of what the issuer wrote,
// only the members that OAuth has for it are repeated.
func (i *Issuer) refusal(err error) error {
	var told *oauth2.RetrieveError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &told):
		return unreachable(i.url, err)
	case told.Response.StatusCode == http.StatusNotFound:
		return &Refusal{Kind: fault.NotFound, Title: fault.NotFound.Title(), Detail: "There is no realm at " + i.url + ". Where an identity provider knows the users, it must be named."}
	}
	kind := kindOf(told.Response.StatusCode)
	switch told.ErrorCode {
	case "invalid_grant", "invalid_client", "access_denied", "expired_token":
		kind = fault.Unauthenticated
	}
	detail := told.ErrorDescription
	if detail == "" {
		detail = strings.TrimSpace(kind.Title() + " " + told.ErrorCode)
	}
	return &Refusal{Kind: kind, Title: kind.Title(), Detail: detail, RetryAfter: retryAfter(told.Response.Header)}
}
