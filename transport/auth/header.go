package auth

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// credential is what an authorization header brought.
type credential struct {
	scheme string
	// user is the name that is claimed; empty where the secret says it.
	user   string
	secret secret.Password
	check  func(context.Context) (Identity, error)
}

// parse reads the one authorization header.
func (s Schemes) parse(h http.Header) (credential, error) {
	given := h.Values("Authorization")
	switch len(given) {
	case 0:
		return credential{}, fault.New(fault.Unauthenticated, "This needs an authorization header: %s.", s.offered())
	case 1:
	default:
		return credential{}, fault.New(fault.Unauthenticated, "There must be one authorization header only: %s.", s.offered())
	}
	scheme, text, _ := strings.Cut(given[0], " ")
	text = strings.TrimSpace(text)
	switch {
	case s.Basic != nil && strings.EqualFold(scheme, "Basic"):
		return s.basic(text)
	case s.Bearer != nil && strings.EqualFold(scheme, "Bearer"):
		token := secret.NewPassword(text)
		return credential{scheme: "Bearer", secret: token, check: func(ctx context.Context) (Identity, error) {
			return s.Bearer.Bearer(ctx, token)
		}}, nil
	case s.Refresh != nil && strings.EqualFold(scheme, "Refresh"):
		token := secret.NewPassword(text)
		return credential{scheme: "Refresh", secret: token, check: func(ctx context.Context) (Identity, error) {
			return s.Refresh.Refresh(ctx, token)
		}}, nil
	}
	// What was given is not repeated: it may be a secret without its scheme.
	return credential{}, fault.New(fault.Unauthenticated, "The scheme of the authorization header must be %s.", s.offered())
}

func (s Schemes) basic(text string) (credential, error) {
	pair, err := base64.StdEncoding.DecodeString(text)
	name, word, ok := strings.Cut(string(pair), ":")
	if err != nil || !ok {
		return credential{}, fault.New(fault.Unauthenticated, "The Basic authorization must be the base64 of username:password.")
	}
	password := secret.NewPassword(word)
	return credential{scheme: "Basic", user: name, secret: password, check: func(ctx context.Context) (Identity, error) {
		return s.Basic.Basic(ctx, name, password)
	}}, nil
}

// offered lists the schemes for people.
func (s Schemes) offered() string {
	var names []string
	if s.Basic != nil {
		names = append(names, "Basic")
	}
	if s.Bearer != nil {
		names = append(names, "Bearer")
	}
	if s.Refresh != nil {
		names = append(names, "Refresh")
	}
	return strings.Join(names, " or ")
}
