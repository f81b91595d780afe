// Package oidc trusts an external issuer: Keycloak, or any other OpenID provider.
// It checks access tokens with the keys that the issuer publishes, and lets the
// issuer itself check refresh tokens and passwords. What it learned it keeps while
// the issuer is down. It issues nothing, knows no local user, and does not decide
// what somebody may do. Only cmd imports it.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
)

const (
	// remember is how long what was verified is not verified anew.
	remember = 60 * time.Second
	// rememberAtMost bounds each memory of it.
	rememberAtMost = 4096
	// reserved is the namespace of the service's own principals.
	reserved = "svc"
)

// Config are the values that an operator decides.
type Config struct {
	// Issuer is the URL that stands in the tokens' iss, to the letter.
	Issuer string
	// Namespace stands before the subject in the principals of this issuer.
	Namespace string
	// Audience must be in the tokens' aud, unless their azp is one of the
	// AuthorizedParties.
	Audience          string
	AuthorizedParties []string
	// RolesClaim is where roles are beside realm_access.roles: the name of a
	// claim, or a path with dots. Empty for none.
	RolesClaim string
	// ClientID and ClientSecret are the client as which the service asks the
	// issuer. A refresh token works only for the client that it was given to.
	// Without a client, Bearer alone works; without a secret, it is public.
	ClientID     string
	ClientSecret secret.Password
	// PasswordGrant lets Basic hand user names and passwords on to the issuer.
	PasswordGrant bool
}

// Deps are the collaborators.
type Deps struct {
	Log *slog.Logger
	Now func() time.Time
}

// Issuer checks what people have from the external issuer.
type Issuer struct {
	cfg       Config
	now       func() time.Time
	client    *http.Client
	endpoints *document[endpoints]
	keys      *document[[]jose.JSONWebKey]

	flights  singleflight.Group
	verified *lru.Cache[digest, pass]    // by access token
	logins   *lru.Cache[digest, pass]    // by user name and password
	sessions *lru.Cache[digest, session] // by refresh token
	// loginKey keeps the digests of passwords from being guessed.
	loginKey digest
}

type digest = [sha256.Size]byte

// pass is an access token that was found good.
type pass struct {
	who     auth.Identity
	expires time.Time
	// until is how long it need not be looked at again, at most until it expires.
	until time.Time
}

// New makes an Issuer. The issuer need not be there yet: it is asked when it is
// first needed.
func New(cfg Config, deps Deps) (*Issuer, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	i := &Issuer{cfg: cfg, now: deps.Now, client: newClient()}
	i.endpoints = newDocument("discovery", deps, i.discover)
	i.keys = newDocument("keys", deps, i.fetchKeys)
	var err error
	if i.verified, err = lru.New[digest, pass](rememberAtMost); err != nil {
		return nil, err
	}
	if i.logins, err = lru.New[digest, pass](rememberAtMost); err != nil {
		return nil, err
	}
	if i.sessions, err = lru.New[digest, session](rememberAtMost); err != nil {
		return nil, err
	}
	_, err = rand.Read(i.loginKey[:])
	return i, err
}

// Close ends the connections to the issuer.
func (i *Issuer) Close() { i.client.CloseIdleConnections() }

func (c Config) validate() (err error) {
	report := func(format string, args ...any) { err = errors.Join(err, fmt.Errorf(format, args...)) }
	if problem := sound(c.Issuer); problem != nil {
		report("issuer: %w", problem)
	}
	if strings.Contains(c.Issuer, "?") {
		report("issuer: it must have no query")
	}
	if c.Namespace == "" || c.Namespace == reserved || strings.Contains(c.Namespace, ":") {
		report("namespace: %q must be neither empty nor %q, and without a colon", c.Namespace, reserved)
	}
	if c.Audience == "" && len(c.AuthorizedParties) == 0 {
		report("audience: without it and without authorized parties, no token is for this service")
	}
	if c.PasswordGrant && c.ClientID == "" {
		report("client id: the password grant needs a client")
	}
	return err
}

// together does what many ask for at once a single time. It is not given up when
// the first who asked is gone, because others wait for it, and because a refresh
// token may have been used up.
func together[T any](ctx context.Context, flights *singleflight.Group, key string, do func(context.Context) (T, error)) (T, error) {
	done := flights.DoChan(key, func() (any, error) { return do(context.WithoutCancel(ctx)) })
	select {
	case result := <-done:
		return result.Val.(T), result.Err
	case <-ctx.Done():
		var none T
		return none, unavailable(ctx.Err())
	}
}

// unavailable says that the issuer could not be asked; the cause is for the log.
func unavailable(cause error) error {
	return fault.New(fault.Unavailable, "The identity provider cannot be asked at the moment.").
		After(askAgain).Because(cause)
}

// wrong refuses a credential. The reasons are ours, so that nothing of what was
// given gets into a log line.
func wrong(reason error) error {
	return fault.New(fault.Unauthenticated, "The authorization is not valid, or not valid any more.").Because(reason)
}
