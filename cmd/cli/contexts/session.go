package contexts

import (
	"context"
	"errors"
	"time"

	"golang.org/x/oauth2"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/client"
)

// renewal bounds a renewal. It goes on when the caller gives up: the issuer may
// have taken the old token back by then.
const renewal = 15 * time.Second

// Session is the log-in of a context, which renews itself.
type Session struct {
	File File
	Name string
	// URL is where it is sent. Another process may log in to another service
	// under the same name meanwhile.
	URL string
	Now func() time.Time
}

// Authorization implements client.Credentials. Of processes that find the token
// expired at once, one renews it and the others take what it wrote.
func (s Session) Authorization(ctx context.Context, refused string) (string, error) {
	set, err := s.File.Read()
	if err != nil {
		return "", err
	}
	c, err := s.find(set)
	if err != nil {
		return "", err
	}
	if header := bearer(c.Token); c.Token.lives(s.Now()) && header != refused {
		return header, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewal)
	defer cancel()
	err = s.File.Change(ctx, func(set *Set) error {
		if c, err = s.find(*set); err != nil {
			return err
		}
		if c.Token.lives(s.Now()) && bearer(c.Token) != refused {
			return nil
		}
		if c.Token, err = s.renew(ctx, c); err != nil {
			return err
		}
		set.Put(c)
		return nil
	})
	return bearer(c.Token), err
}

// find gives the context while it is still that of the service.
func (s Session) find(set Set) (Context, error) {
	c, err := set.Find(s.Name)
	if err == nil && c.URL != s.URL {
		err = ended(s.Name)
	}
	return c, err
}

func bearer(t Token) string { return "Bearer " + t.Access.Reveal() }

func (s Session) renew(ctx context.Context, c Context) (Token, error) {
	if c.Token.Refresh.IsZero() {
		return Token{}, ended(c.Name)
	}
	issuer, err := c.IssuerOf(ctx)
	if err != nil {
		return Token{}, err
	}
	renewed, err := issuer.Refresh(ctx, &oauth2.Token{RefreshToken: c.Token.Refresh.Reveal()})
	var refusal *client.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Kind == fault.Unauthenticated:
		return Token{}, ended(c.Name)
	case err != nil:
		return Token{}, err
	}
	return TokenOf(renewed), nil
}

// ended is for a log-in that nothing can renew.
func ended(name string) error {
	return &client.Refusal{
		Kind: fault.Unauthenticated, Title: fault.Unauthenticated.Title(),
		Detail: "The log-in of context " + name + " has ended.", Hint: "Log in again: hooklog login --context " + name,
	}
}

// IssuerOf is who gives the tokens of the context.
func (c Context) IssuerOf(ctx context.Context) (*client.Issuer, error) {
	caller, err := client.NewHTTP(c.CA)
	if err != nil {
		return nil, err
	}
	if c.Issuer == "" {
		return client.Realm(c.URL, c.Client, caller), nil
	}
	return client.Discover(ctx, c.Issuer, c.Client, caller)
}

// TokenOf keeps of an issuer's answer what is needed later.
func TokenOf(t *oauth2.Token) Token {
	return Token{
		Access: secret.NewPassword(t.AccessToken), Refresh: secret.NewPassword(t.RefreshToken),
		Expires: t.Expiry.UTC().Truncate(time.Second),
	}
}
