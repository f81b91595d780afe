package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/oauth2"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
)

var errRefused = errors.New("the issuer refused it")

// session is what became of a refresh token.
type session struct {
	// newest is the refresh token that the issuer takes now: it may give a new one
	// for each that is used, and the caller goes on with the one it has.
	newest secret.Password
	who    auth.Identity
	// until is when the access token expires that was got for it.
	until time.Time
}

// Refresh checks a refresh token by using it at the issuer, once in the life of
// an access token.
func (i *Issuer) Refresh(ctx context.Context, token secret.Password) (auth.Identity, error) {
	if i.cfg.ClientID == "" || token.IsZero() || len(token.Reveal()) > maxToken {
		return auth.Identity{}, wrong(errors.New("it cannot be a refresh token for this service"))
	}
	id := sha256.Sum256([]byte(token.Reveal()))
	if s, ok := i.sessions.Get(id); ok && i.now().Before(s.until) {
		return s.who, nil
	}
	return together(ctx, &i.flights, "refresh "+string(id[:]), func(ctx context.Context) (auth.Identity, error) {
		return i.refresh(ctx, id, token)
	})
}

func (i *Issuer) refresh(ctx context.Context, id digest, token secret.Password) (auth.Identity, error) {
	s, known := i.sessions.Get(id)
	if known && i.now().Before(s.until) {
		return s.who, nil // another flight has just ended
	}
	if !known {
		s.newest = token
	}
	granted, err := i.grant(ctx, func(ctx context.Context, as *oauth2.Config) (*oauth2.Token, error) {
		return as.TokenSource(ctx, &oauth2.Token{RefreshToken: s.newest.Reveal()}).Token()
	})
	if known && fault.Is(err, fault.Unauthenticated) {
		i.sessions.Remove(id)
		return auth.Identity{}, wrong(auth.ErrOutdated)
	}
	if err != nil {
		return auth.Identity{}, err
	}
	// First of all the new token is kept: the one before may be used up.
	s.newest = secret.NewPassword(granted.RefreshToken)
	i.sessions.Add(id, s)
	p, err := i.accept(ctx, granted.AccessToken)
	if err != nil {
		return auth.Identity{}, err
	}
	s.who, s.until = p.who, p.expires
	i.sessions.Add(id, s)
	return p.who, nil
}

// Basic checks a user name and a password by logging in at the issuer, where that
// is switched on.
func (i *Issuer) Basic(ctx context.Context, name string, password secret.Password) (auth.Identity, error) {
	if !i.cfg.PasswordGrant || name == "" || password.IsZero() || len(name)+len(password.Reveal()) > maxToken {
		return auth.Identity{}, wrong(errors.New("it cannot be a log-in at the issuer"))
	}
	id := i.loginID(name, password)
	if p, ok := i.logins.Get(id); ok && i.now().Before(p.until) {
		return p.who, nil
	}
	return together(ctx, &i.flights, "login "+string(id[:]), func(ctx context.Context) (auth.Identity, error) {
		return i.login(ctx, id, name, password)
	})
}

func (i *Issuer) login(ctx context.Context, id digest, name string, password secret.Password) (auth.Identity, error) {
	granted, err := i.grant(ctx, func(ctx context.Context, as *oauth2.Config) (*oauth2.Token, error) {
		return as.PasswordCredentialsToken(ctx, name, password.Reveal())
	})
	if err != nil {
		return auth.Identity{}, err
	}
	p, err := i.accept(ctx, granted.AccessToken)
	if err != nil {
		return auth.Identity{}, err
	}
	i.logins.Add(id, p)
	return p.who, nil
}

func (i *Issuer) loginID(name string, password secret.Password) digest {
	mac := hmac.New(sha256.New, i.loginKey[:])
	_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(name))))
	_, _ = mac.Write([]byte(name))
	_, _ = mac.Write([]byte(password.Reveal()))
	return digest(mac.Sum(nil))
}

// grant asks the token endpoint as the service's client.
func (i *Issuer) grant(ctx context.Context, ask func(context.Context, *oauth2.Config) (*oauth2.Token, error)) (*oauth2.Token, error) {
	issuer, err := i.endpoints.current(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	granted, err := ask(context.WithValue(ctx, oauth2.HTTPClient, i.client), &oauth2.Config{
		ClientID:     i.cfg.ClientID,
		ClientSecret: i.cfg.ClientSecret.Reveal(),
		Endpoint:     oauth2.Endpoint{TokenURL: issuer.token, AuthStyle: issuer.style},
	})
	var said *oauth2.RetrieveError
	switch {
	case err == nil:
		return granted, nil
	case !errors.As(err, &said):
		return nil, unavailable(err)
	case said.ErrorCode == "invalid_grant", said.ErrorCode == "invalid_request", said.ErrorCode == "access_denied":
		return nil, wrong(errRefused)
	}
	// Only the code is told on: a text may repeat what was sent. That the client is
	// not accepted, for one, is no fault of the caller.
	return nil, unavailable(fmt.Errorf("the token endpoint answered %d %.40q", said.Response.StatusCode, said.ErrorCode))
}
