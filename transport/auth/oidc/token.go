package oidc

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"hooklog/domain/secret"
	"hooklog/transport/auth"
)

const (
	// maxToken bounds a token in bytes; a longer one is not looked at.
	maxToken = 16 << 10
	// skew is how far the issuer's clock may be from ours.
	skew = 30 * time.Second
)

// algorithms are those with a public key: with a shared one, whoever can verify
// could sign as well.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512,
	jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512,
	jose.EdDSA,
}

// Bearer checks an access token.
func (i *Issuer) Bearer(ctx context.Context, token secret.Password) (auth.Identity, error) {
	p, err := i.accept(ctx, token.Reveal())
	return p.who, err
}

// accept finds out whose an access token is, from memory for a short time.
func (i *Issuer) accept(ctx context.Context, token string) (pass, error) {
	if len(token) > maxToken {
		return pass{}, wrong(errors.New("the token is too long"))
	}
	id := sha256.Sum256([]byte(token))
	if p, ok := i.verified.Get(id); ok && i.now().Before(p.until) {
		return p, nil
	}
	p, err := i.verify(ctx, token)
	if err != nil {
		return pass{}, err
	}
	if i.now().Before(p.until) {
		i.verified.Add(id, p)
	}
	return p, nil
}

func (i *Issuer) verify(ctx context.Context, text string) (pass, error) {
	token, err := jwt.ParseSigned(text, algorithms)
	if err != nil {
		return pass{}, wrong(errors.New("it is no token that is signed in an accepted way"))
	}
	typ, err := checkHeader(token.Headers[0])
	if err != nil {
		return pass{}, wrong(err)
	}
	var (
		registered jwt.Claims
		own        claims
		all        map[string]any
	)
	if err := i.open(ctx, token, &registered, &own, &all); err != nil {
		return pass{}, err
	}
	if typ != "at+jwt" && !own.grantsAccess() {
		return pass{}, wrong(errors.New("it is no access token"))
	}
	now := i.now()
	if err := i.check(registered, own, now); err != nil {
		return pass{}, wrong(err)
	}
	expires := registered.Expiry.Time()
	until := now.Add(remember)
	if expires.Before(until) {
		until = expires
	}
	return pass{who: i.identity(registered.Subject, own, all), expires: expires, until: until}, nil
}

// checkHeader gives the type of the token. It refuses what is of another kind, and
// what brings its own key: only the issuer's keys count, and whoever sends others
// is up to something.
func checkHeader(h jose.Header) (typ string, err error) {
	typ, _ = h.ExtraHeaders[jose.HeaderType].(string)
	typ = strings.TrimPrefix(strings.ToLower(typ), "application/")
	_, jku := h.ExtraHeaders["jku"]
	_, x5u := h.ExtraHeaders["x5u"]
	switch {
	case typ != "" && typ != "jwt" && typ != "at+jwt":
		return "", errors.New("the header is not that of an access token")
	case jku || x5u || h.JSONWebKey != nil:
		return "", errors.New("the header brings a key")
	}
	return typ, nil
}

// claims are those beside the registered ones that are looked at.
type claims struct {
	Type              string `json:"typ"`
	AuthorizedParty   string `json:"azp"`
	ClientID          string `json:"client_id"`
	PreferredUsername string `json:"preferred_username"`
	Name              string `json:"name"`
	Confirmation      any    `json:"cnf"`

	// What only access tokens have, whatever the issuer calls it.
	Scope  any `json:"scope"`
	Scopes any `json:"scp"`
	AppID  any `json:"appid"`
	// What only ID tokens have, though not all of them.
	AccessTokenHash any `json:"at_hash"`
	Nonce           any `json:"nonce"`
}

// grantsAccess tells an access token from an ID token of the same issuer, which
// says who somebody is to a client and must open nothing. Some have no mark of
// their own, so the mark of an access token is asked for.
func (c claims) grantsAccess() bool {
	switch {
	case c.AccessTokenHash != nil || c.Nonce != nil:
		return false
	case c.Type != "":
		return strings.EqualFold(c.Type, "Bearer")
	}
	return c.Scope != nil || c.Scopes != nil || c.AppID != nil || c.ClientID != ""
}

// check holds a token that the issuer signed against what we expect of it. The
// time comes last, so that only a token that was good once is called outdated.
func (i *Issuer) check(registered jwt.Claims, own claims, now time.Time) error {
	ours := registered.Audience.Contains(i.cfg.Audience) && i.cfg.Audience != ""
	trusted := own.AuthorizedParty != "" && slices.Contains(i.cfg.AuthorizedParties, own.AuthorizedParty)
	switch {
	case registered.Issuer != i.cfg.Issuer:
		return errors.New("another issuer made the token")
	case !ours && !trusted:
		return errors.New("the token is for another audience")
	case registered.Subject == "":
		return errors.New("the token has no subject")
	case own.Confirmation != nil:
		return errors.New("the token needs a proof that cannot be checked")
	case registered.Expiry == nil:
		return errors.New("the token never expires")
	}
	err := registered.ValidateWithLeeway(jwt.Expected{Time: now}, skew)
	if errors.Is(err, jwt.ErrExpired) {
		return auth.ErrOutdated
	}
	return err
}

func (i *Issuer) identity(subject string, own claims, all map[string]any) auth.Identity {
	who := auth.Identity{
		Principal: i.cfg.Namespace + ":" + subject,
		Name:      own.PreferredUsername,
		Roles:     texts(find(all, "realm_access.roles")),
		Client:    own.AuthorizedParty,
	}
	if who.Name == "" {
		who.Name = own.Name
	}
	if who.Client == "" {
		who.Client = own.ClientID
	}
	if i.cfg.RolesClaim != "" {
		who.Roles = append(who.Roles, texts(find(all, i.cfg.RolesClaim))...)
	}
	slices.Sort(who.Roles)
	who.Roles = slices.Compact(who.Roles)
	return who
}

// find gives the claim at a path. Names of claims may have dots themselves, as
// those that are URLs, so the longest name counts.
func find(claims map[string]any, path string) any {
	if value, ok := claims[path]; ok {
		return value
	}
	for at := strings.LastIndexByte(path, '.'); at >= 0; at = strings.LastIndexByte(path[:at], '.') {
		if inner, ok := claims[path[:at]].(map[string]any); ok {
			return find(inner, path[at+1:])
		}
	}
	return nil
}

// texts gives a text or a list of them; a text is one role, whatever is in it.
func texts(claim any) (list []string) {
	switch value := claim.(type) {
	case string:
		return []string{value}
	case []any:
		for _, element := range value {
			if text, ok := element.(string); ok {
				list = append(list, text)
			}
		}
	}
	return list
}
